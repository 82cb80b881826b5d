import type { Logger } from 'pino';
import { MINUTE, SECOND } from '../../time.ts';
import type { ClockFault, ClockGuard, OutsideTime } from '../clock-guard.ts';
import { poll } from './poll.ts';

/** How often the clock is looked at, in ms. */
const LOOK_EVERY = SECOND;
/** How often others are asked while the clock is wrong, or until one answers, in ms of a monotonic clock. */
const ASK_EVERY = MINUTE;

interface Parts {
  guard: ClockGuard;
  ask(): Promise<OutsideTime[]>;
  /** Called when the clock is right again. */
  onRight(): unknown;
  logger: Logger;
}

/**
 * Tells the log, and the commands here, when the clock goes wrong and is right again. Returns a function that stops it.
 */
export function watchClock({ guard, ask, onRight, logger }: Parts): () => Promise<void> {
  let told: ClockFault | null = null;
  let askedAt = performance.now();
  const look = async (): Promise<number> => {
    guard.lookAgain();
    let fault = guard.fault();
    const isAsked = fault === null ? !guard.hasHeard : fault.kind === 'jumped' || fault.kind === 'contradicted';
    if (isAsked && performance.now() - askedAt >= ASK_EVERY) {
      guard.hear(await ask());
      askedAt = performance.now();
      fault = guard.fault();
    }
    if (fault !== null && fault.kind !== told?.kind) {
      logger.error({ clock: fault.kind, reason: fault.message }, 'nothing is signed: the clock is wrong');
    }
    if (fault === null && told !== null) {
      onRight();
      logger.info('the clock is right again: signing goes on');
    }
    if (fault !== null || told !== null) guard.tell(fault);
    told = fault;
    return LOOK_EVERY;
  };
  const stop = poll(look, { job: 'clock watch', logger, failed: 'the clock could not be checked; it is tried again' });
  return async () => {
    await stop();
    if (told !== null) guard.tell(null);
  };
}
