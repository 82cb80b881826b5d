import type { AppContext } from '../../src/app/context.ts';
import { Fault } from '../../src/fault.ts';
import { assertSigns } from '../middleware/standby.ts';

const BEHIND = 'this server stands by for another one, and may not have these changes yet; try again soon';

/**
 * Throws `ahead_of_stream` for a position that no change has reached: a client that waits for later changes would
 * receive nothing until that many were made. `field` names the parameter. A standby has only what it restored last, so
 * there it is `unavailable`.
 */
export function assertReached(
  app: Pick<AppContext, 'signer'>,
  { field, position, newest }: { field: string; position: number; newest: number },
): void {
  if (position <= newest) return;
  assertSigns(app, BEHIND);
  throw new Fault(
    'ahead_of_stream',
    `${field}: ${position} is ahead of the stream, whose newest change is ${newest}: this service was restored from a backup since, or the number is not one of its changes. Read /v1/changes for what changed, and go on from ${newest}. Nothing was charged`,
    { newest },
  );
}
