// `npm run dev`: names in one line what keeps Astro's server from starting, where Astro would print a trace.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { needPort } from '../../api/listen.ts';
import { DESK_PORT, readSettings } from '../env.ts';
import { Fault } from '../fault.ts';
import { PROJECT } from '../project.ts';
import { tell } from './run.ts';

const FLAGS = { host: { type: 'string' }, port: { type: 'string' } } as const;

try {
  const { host, port } = readSettings();
  const { values } = parseArgs({ args: process.argv.slice(2), options: FLAGS, strict: false });
  const setting = values.port === undefined ? 'PORT' : '--port';
  const wanted = { host: typeof values.host === 'string' ? values.host : host, port: Number(values.port ?? port) };
  // On the default port Astro takes the next free one: see integration.ts.
  if (port !== DESK_PORT && wanted.port >= 0 && wanted.port <= 65_535) await needPort({ ...wanted, setting });
  process.argv.splice(2, 0, 'dev');
  await import(pathToFileURL(join(PROJECT, 'node_modules/astro/bin/astro.mjs')).href);
} catch (error) {
  if (!(error instanceof Fault)) throw error;
  tell(`broadsheet: ${error.message}`);
  process.exitCode = 1;
}
