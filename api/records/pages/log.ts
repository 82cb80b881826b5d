import { join } from 'node:path';
import type { Policy } from '../../../src/proof/log/policy.ts';
import type { AppContext } from '../../../src/server/context.ts';
import type { Settings } from '../../../src/server/env.ts';
import { logView, logViewState } from '../../../src/shared/transparency/log-view.ts';
import { sendLogFile } from '../../responses/log-file.ts';
import { ResponseCache } from '../../responses/response-cache.ts';
import type { RecordsContext } from '../route.ts';
import type { PageSender } from './page.ts';

export const logPage = ({ store, settings }: AppContext, pages: PageSender, policyNow: () => Policy | null) => {
  const cache = new ResponseCache();
  const url_absolute = `${settings.dataOrigin}${LOG_PATH}`;
  return (c: RecordsContext) => {
    // Read each time, because a reload may change it.
    const policy = policyNow();
    const frame = pages.frame(c, {
      title: 'Transparency log · Domain Records',
      description:
        'The receipt of every observation is a leaf of this log, as a hash, so that nobody, its operator included, can rewrite what was signed without being seen.',
      path: LOG_PATH,
    });
    // The leaves of the domain records name no piece.
    const pieceOf = () => null;
    const view = () => ({ frame, log: logView(store.database.log, { log: 'records', url_absolute, policy, pieceOf }) });
    const state = logViewState(store.database.log, { log: 'records', policy });
    return pages.sendCached(c, '/records/log', { frame, view }, { cache, name: LOG_PATH, state });
  };
};

export const logWithoutSlash = (c: RecordsContext) => c.redirect(LOG_PATH, 301);

const LOG_PATH = '/log/';

export const logFiles =
  ({ logDir, dataOrigin }: Settings) =>
  (c: RecordsContext) =>
    sendLogFile(c, { folder: join(logDir, 'records'), path: c.req.path.slice(LOG_PATH.length), root: dataOrigin });
