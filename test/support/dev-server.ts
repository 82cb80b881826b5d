import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endBeforeRemoval, envIn, type Scope } from './app-context.ts';
import { freePort } from './free-port.ts';
import { until } from './program.ts';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));

/** Starts what `npm run dev` runs; it is killed when the test ends before it does. */
export function dev(t: Scope, folder: string, settings: Record<string, string>) {
  // By default Astro allows one server per project, and the developer may have one running.
  const { scripts } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));
  const args = /^exec node (.+)$/.exec(scripts.dev)?.[1]?.split(' ') ?? assert.fail('it runs by node');
  const child = spawn(process.execPath, [...args, '--ignore-lock'], {
    cwd: PROJECT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...envIn(folder), ...settings, ASTRO_TELEMETRY_DISABLED: '1' },
  });
  const said = { text: '' };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said.text += text;
    });
  }
  const ended = once(child, 'close');
  const end = () => {
    child.kill('SIGKILL');
    return ended;
  };
  endBeforeRemoval(folder, end);
  t.after(end);
  return { child, said, ended };
}

/** Starts it on a free port and waits until it listens. */
export async function serveDev(t: Scope, folder: string, settings: Record<string, string> = {}) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const running = dev(t, folder, { ...settings, PORT: String(port) });
  await until(() => {
    assert.equal(running.child.exitCode, null, running.said.text);
    return running.said.text.includes(url) ? true : null;
  });
  return { ...running, url };
}
