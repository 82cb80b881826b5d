import type { AppContext } from '../../server/context.ts';
import { newId } from '../../shared/new-id.ts';
import { type Change, CLI_ACTOR, recordActivity } from '../activity.ts';

/** Records in the activity log what a command did to a paper. Call it in the same transaction. */
export function recordCommand(
  { store, clock }: Pick<AppContext, 'store' | 'clock'>,
  paper: string,
  ...changes: Change[]
): void {
  recordActivity(store.desk, { paper, now: clock.now(), newId }, CLI_ACTOR, changes);
}
