import { join } from 'node:path';
import type { Settings } from '../../../src/env.ts';
import { Fault } from '../../../src/fault.ts';
import { PROJECT } from '../../../src/project.ts';
import { fileAt, fileHeaders } from '../../responses/files.ts';
import { sendFile } from '../../responses/send-file.ts';
import type { RecordsContext } from '../context.ts';

const FOLDER = join(PROJECT, 'dist/client');

/** The stylesheets, fonts and scripts that the build made for the pages. */
export const assets =
  ({ dataOrigin }: Pick<Settings, 'dataOrigin'>) =>
  (c: RecordsContext) => {
    const path = fileAt(FOLDER, c.req.path);
    if (path === null) throw new Fault('not_found', 'no such file; it may belong to an older build');
    const headers = fileHeaders(c.req.path, dataOrigin, []);
    return sendFile(c, { file: join(FOLDER, path), status: 200, headers });
  };
