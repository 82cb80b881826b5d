#!/usr/bin/env node
// Even an old Node can run this file, and prints one line instead of a stack trace.
import { readFileSync } from 'node:fs';

const { engines } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
const oldest = engines.node.replace('>=', '');
const [[major, minor], [oldestMajor, oldestMinor]] = [process.versions.node, oldest].map((version) =>
  version.split('.').map(Number),
);
if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) {
  const { main } = await import('./dist/main.js');
  process.exitCode = await main(process.argv.slice(2));
} else {
  console.error(
    `create-broadsheet: Node ${process.versions.node} is too old; install Node ${oldest} or newer from https://nodejs.org`,
  );
  process.exitCode = 1;
}
