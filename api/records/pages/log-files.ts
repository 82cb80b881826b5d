import { join } from 'node:path';
import type { Settings } from '../../../src/env.ts';
import { sendLogFile } from '../../responses/log-file.ts';
import type { RecordsContext } from '../context.ts';

/** The address of the log, below the service's own. */
export const LOG_PATH = '/log/';

/** The files of the transparency log of the domain records. */
export const logFiles =
  ({ logDir, dataOrigin }: Pick<Settings, 'logDir' | 'dataOrigin'>) =>
  (c: RecordsContext) =>
    sendLogFile(c, { folder: join(logDir, 'records'), path: c.req.path.slice(LOG_PATH.length), root: dataOrigin });
