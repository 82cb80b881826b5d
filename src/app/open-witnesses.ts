import type { Logger } from 'pino';
import type { LogService } from '../ledger/log/leaf.ts';
import type { SubmitCheckpoint } from '../net/witness-client.ts';
import { VERSION } from '../project.ts';
import type { CoveredLeaves } from '../transparency/cosigned-head.ts';
import type { AppContext } from './context.ts';
import type { LogKey } from './log-key.ts';
import { type LogWitnesses, logWitnesses } from './log-witnesses.ts';
import { markProofsStale } from './stale-proofs.ts';

/**
 * The witnesses of a log, contacted over the network on behalf of the service. `deadline` is that of a request, in ms.
 */
export function openWitnesses(
  { store, settings, now }: AppContext,
  log: LogService,
  { origin }: LogKey,
  logger: Logger,
  { deadline }: { deadline?: number } = {},
): LogWitnesses {
  const [name, address] =
    log === 'desk' ? ['Broadsheet', settings.origin] : ['Broadsheet-Records', settings.dataOrigin];
  const agent = `${name}/${VERSION} (+${address})`;
  let client: Promise<SubmitCheckpoint> | undefined;
  // Most logs have no witnesses, and loading Node's HTTP takes a tenth of a command's start.
  const submit: SubmitCheckpoint = async (...checkpoint) => {
    client ??= import('../net/witness-client.ts').then(({ witnessClient }) => witnessClient(agent, { deadline }));
    return (await client)(...checkpoint);
  };
  const covered = (leaves: CoveredLeaves) => markProofsStale(store, log, leaves);
  return logWitnesses({ store, now, submit, covered, logger }, { log, origin });
}
