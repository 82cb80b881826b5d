import { join } from 'node:path';
import { Fault } from '../../../src/fault.ts';
import { PROJECT } from '../../../src/project.ts';
import { fileAt, fileHeaders } from '../../responses/files.ts';
import { sendFile } from '../../responses/send-file.ts';
import type { RecordsDoors } from '../route.ts';

/** Stylesheets, fonts and scripts that the pages need, as they were built. */
export function recordsFiles({ router, app }: RecordsDoors): void {
  const folder = join(PROJECT, 'dist/client');
  router.on(['GET', 'HEAD'], ['/_astro/*', '/favicon.svg'], (c) => {
    const path = fileAt(folder, c.req.path);
    if (path === null) throw new Fault('not_found', 'there is no such file; it may have been of an older build');
    const headers = { ...fileHeaders(c.req.path, app.settings.dataOrigin, []) };
    return sendFile(c, { file: join(folder, path), status: 200, headers });
  });
}
