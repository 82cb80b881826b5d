#!/usr/bin/env node
// Broadsheet needs a Node that runs TypeScript; package.json names the first such version. An older one hands over to
// the Node that npm installed beside it (tools/package.json).
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';

const { engines, version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const oldest = engines.node.replace('>=', '');
const [[major, minor], [oldestMajor, oldestMinor]] = [process.versions.node, oldest].map((version) =>
  version.split('.').map(Number),
);
const newer = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url));
// The package is in the user's node_modules.
const modules = import.meta.url.includes('/node_modules/') ? '../../' : '../node_modules/';

if (['--version', '-V'].includes(process.argv[2])) {
  // Answered here, because scripts ask for the version often, and it needs neither the commands nor a newer Node.
  const { commitOf } = await import('./commit.mjs');
  const commit = commitOf(fileURLToPath(new URL('..', import.meta.url)));
  console.log(commit === undefined ? version : `${version} (${commit})`);
} else if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) {
  // Caches compiled modules, which halves the time of the next start. Not in the system's folder for temporary
  // files, where others may write. Where node_modules is read-only, nothing is cached.
  // biome-ignore lint/style/noProcessEnv: worker threads take this setting from nowhere else
  process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL(`${modules}.cache/broadsheet`, import.meta.url));
  nodeModule.enableCompileCache();
  await import('../src/cmd/broadsheet.ts');
} else if (existsSync(newer)) {
  // The IPC channel closes when this process ends in any way: see src/shared/terminal/parent-process.ts.
  const child = spawn(newer, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    // Ends by the same signal as the child.
    for (const name of signals) process.removeAllListeners(name);
    process.kill(process.pid, signal);
  });
} else {
  const isBrought =
    process.platform === 'linux' &&
    ['x64', 'arm64'].includes(process.arch) &&
    existsSync(new URL('../tools/package.json', import.meta.url));
  const cure = `install Node ${oldest} or newer from https://nodejs.org`;
  const or = isBrought ? ', or run npm ci without --omit=dev, which brings one' : '';
  console.error(`broadsheet: Node ${process.versions.node} is too old; ${cure}${or}`);
  process.exit(1);
}
