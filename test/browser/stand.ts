import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { copyDemo, freePort } from '../support/program.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/broadsheet.mjs', import.meta.url));

export interface Stand {
  /** Address of the host that serves the demo papers. */
  url: string;
  close(): Promise<void>;
}

/** Serves the repository's own papers from a folder of its own, as `npm start` does. */
export async function openStand(): Promise<Stand> {
  const folder = mkdtempSync(join(tmpdir(), 'broadsheet-stand-'));
  copyDemo(folder);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, [PROGRAM, 'serve'], {
    cwd: fileURLToPath(new URL('../../', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      ORIGIN: url,
      PORT: String(port),
      SERVICES: 'desk',
      DATA_DIR: join(folder, 'var'),
      DIST_DIR: join(folder, 'papers'),
      LOG_LEVEL: 'error',
    },
  });
  const exited = once(child, 'exit');
  const close = async () => {
    child.kill('SIGTERM');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('ready ')) return { url, close };
  }
  await close();
  throw new Error('the server ended before it was ready; its own lines above say why');
}
