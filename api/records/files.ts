import { join } from 'node:path';
import { PROJECT } from '../../src/works/build.ts';
import { fileAt, fileHeaders } from '../desk/pressed.ts';
import { sendFile } from '../desk/send-file.ts';
import type { RecordsDoors } from './doors.ts';

/** Stylesheets, fonts and scripts that the pages need, as they were built. */
export function recordsFiles({ app, shop }: RecordsDoors): void {
  const folder = join(PROJECT, 'dist/client');
  app.on(['GET', 'HEAD'], ['/_astro/*', '/favicon.svg'], async (c, next) => {
    const path = fileAt(folder, c.req.path);
    if (path === null) return next();
    const headers = { ...fileHeaders(c.req.path, shop.settings.dataOrigin, []) };
    return sendFile(c.env, { file: join(folder, path), status: 200, headers });
  });
}
