import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../fault.ts';
import type { Looker } from './looker.ts';
import { scanBatch } from './scan-batch.ts';
import type { Entered, ScanQueue, Taken } from './scan-queue.ts';

/** Batches that are looked at at the same time, and hostnames in each: so many looks are in memory, and no more. */
const HANDS = 4;
const BATCH = 16;
/** How long a hand rests when nothing is due, in ms. */
const IDLE = 1_000;
/** How long a hand rests after a failure, in ms; twice as long each time, up to the most. */
const FIRST_REST = 1_000;
const LONGEST_REST = 60_000;

/** Who wants to know how a scan goes. */
export interface ScanNews {
  entered(entered: Entered[]): void;
  /** No resolver answers; it is tried again after so many ms. */
  blind(rest: number): void;
  /** The queue failed; it is tried again after so many ms. */
  failed(error: unknown, rest: number): void;
}

export interface Scan {
  /** Resolves when it was stopped, or with `once` when nothing is due. Rejects with what trying again does not cure; with `once`, with anything. */
  ended: Promise<void>;
  /** Begins nothing more, drops what is under way and gives it back. */
  stop(): Promise<void>;
}

/** Works a queue until it is stopped, or with `once` until nothing is due; closes the looker at its end. */
export function startScan(queue: ScanQueue, looker: Looker, news: ScanNews, { once = false } = {}): Scan {
  const stopping = new AbortController();
  const { signal } = stopping;
  const isStopping = () => signal.aborted;
  const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined);

  let turn: Promise<unknown> = Promise.resolve();
  // One hand at a time asks for work; while it waits, nobody else has to ask.
  const next = (): Promise<Taken | null> => {
    const mine = turn.then(async () => {
      while (!isStopping()) {
        const taken = await queue.take(BATCH);
        if (taken !== null || once) return taken;
        await pause(IDLE);
      }
      return null;
    });
    turn = mine.catch(() => undefined);
    return mine;
  };

  const hand = async (): Promise<void> => {
    let rest = FIRST_REST;
    for (;;) {
      try {
        const taken = await next();
        if (taken === null) return;
        const { entered, isBlind } = await scanBatch(queue, looker, taken, isStopping);
        news.entered(entered);
        if (!isBlind) {
          rest = FIRST_REST;
          continue;
        }
        if (once) throw new Fault('unavailable', 'no resolver answers; set RESOLVERS to some that do');
        news.blind(rest);
      } catch (error) {
        if (once || isFinal(error)) throw error;
        if (!isStopping()) news.failed(error, rest);
      }
      await pause(rest);
      rest = Math.min(rest * 2, LONGEST_REST);
    }
  };
  const end = (): void => {
    stopping.abort();
    // What waits for an answer ends at once.
    looker.close();
  };
  let failure: unknown;
  const hands = Array.from({ length: HANDS }, () =>
    hand().catch((error: unknown) => {
      failure ??= error;
      end();
    }),
  );
  const done = Promise.all(hands).then(() => looker.close());
  return {
    ended: done.then(() => {
      if (failure !== undefined) throw failure;
    }),
    stop() {
      end();
      return done;
    },
  };
}

/** Whether the queue has nothing more to say to this scanner. */
function isFinal(error: unknown): boolean {
  return error instanceof Fault && (error.code === 'key_invalid' || error.code === 'level_too_low');
}
