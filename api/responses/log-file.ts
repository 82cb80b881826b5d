import { join } from 'node:path';
import type { Context } from 'hono';
import { logFileHeaders, OPEN_LOG } from '../../src/operate/publish/log-headers.ts';
import { Fault } from '../../src/shared/fault.ts';
import { plainFile } from '../../src/shared/files/plain-file.ts';
import { isLogPath, isLogText } from '../../src/shared/transparency/log-paths.ts';
import { setHeader } from './headers.ts';
import { sendFile } from './send-file.ts';

/** Sends a file of a log's tree (C2SP tlog-tiles), or its `policy` or `vkey`. Throws `not_found`. */
export async function sendLogFile(
  c: Context,
  { folder, path, root }: { folder: string; path: string; root: string },
): Promise<Response> {
  for (const [name, value] of Object.entries(OPEN_LOG)) setHeader(c, name, value);
  if (!isLogPath(path)) throw notFound('this is not the address of a part of the log; read checkpoint, then tile/…');
  const file = join(folder, path);
  if (plainFile(folder, path) === null) {
    throw notFound(
      isLogText(path)
        ? `this log has no ${path} yet; it is written when the server has signed the first leaf`
        : `this log has no ${path}; its checkpoint says how many leaves it has`,
    );
  }
  return sendFile(c, { file, status: 200, headers: logFileHeaders(path, root) });
}

function notFound(message: string): Fault {
  return new Fault('not_found', message);
}
