#!/usr/bin/env node
// Broadsheet runs on Node 22.18 or newer, which reads TypeScript as it is. On an
// older one this hands over to the Node that npm installed beside it.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as modules from 'node:module';
import { fileURLToPath } from 'node:url';

const [major, minor] = process.versions.node.split('.').map(Number);
const newer = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url));

if (major > 22 || (major === 22 && minor >= 18)) {
  // What Node makes of each module is kept for the next start, which then takes half the time. Not in the
  // system's folder for temporary files, where others may write; where node_modules is read-only, nothing is kept.
  modules.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/broadsheet', import.meta.url)));
  await import('../src/cmd/broadsheet.ts');
} else if (existsSync(newer)) {
  // The channel closes when this process is gone, however it ended: see src/cmd/starter.ts.
  const child = spawn(newer, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    // Ends as the child did.
    for (const name of signals) process.removeAllListeners(name);
    process.kill(process.pid, signal);
  });
} else {
  console.error(`broadsheet: Node ${process.versions.node} is too old; install Node 22.18 or newer, or run npm ci`);
  process.exit(1);
}
