import type { Build } from '../../../src/app/build.ts';
import type { Settings } from '../../../src/env.ts';
import { Fault } from '../../../src/fault.ts';
import { fileHeaders } from '../../responses/files.ts';
import { sendFile } from '../../responses/send-file.ts';
import type { RecordsContext } from '../context.ts';

/** The stylesheets, fonts and scripts that the build made for the pages. */
export const assets =
  (asset: Build['asset'], { dataOrigin }: Pick<Settings, 'dataOrigin'>) =>
  (c: RecordsContext) => {
    const content = asset(c.req.path.slice(1));
    if (content === null) throw new Fault('not_found', 'no such file; it may belong to an older build');
    const headers = fileHeaders(c.req.path, dataOrigin, []);
    return sendFile(c, { file: c.req.path, content, status: 200, headers });
  };
