// `npm run dev`: starts Astro's server. If it cannot start, prints the reason in one line instead of Astro's stack
// trace.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { requireFreePort } from '../../api/listen.ts';
import { readSettings } from '../server/env.ts';
import { DESK_PORT } from '../server/settings/services.ts';
import { Fault } from '../shared/fault.ts';
import { PROJECT } from '../shared/project.ts';
import { printError } from '../shared/terminal/output.ts';

const FLAGS = { host: { type: 'string' }, port: { type: 'string' } } as const;

try {
  const { host, port } = readSettings();
  const { values } = parseArgs({ args: process.argv.slice(2), options: FLAGS, strict: false });
  const setting = values.port === undefined ? 'PORT' : '--port';
  const wanted = { host: typeof values.host === 'string' ? values.host : host, port: Number(values.port ?? port) };
  // With the default port Astro falls back to the next free one: see integration.ts.
  if (port !== DESK_PORT && wanted.port >= 0 && wanted.port <= 65_535) await requireFreePort({ ...wanted, setting });
  process.argv.splice(2, 0, 'dev');
  await import(pathToFileURL(join(PROJECT, 'node_modules/astro/bin/astro.mjs')).href);
} catch (error) {
  if (!(error instanceof Fault)) throw error;
  printError(`broadsheet: ${error.message}`);
  process.exitCode = 1;
}
