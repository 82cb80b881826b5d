import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Command } from 'commander';
import pino from 'pino';
import { listenDesk } from '../../api/server.ts';
import { environmentWith, readSettings } from '../env.ts';
import { Fault } from '../fault.ts';
import { startClock } from '../jobs/clock.ts';
import { isBuilt, PROJECT } from '../works/build.ts';
import { fileContent } from './file.ts';
import { problemLine } from './inbox/source-file.ts';
import { pressShowing } from './press.ts';
import { openWorkshop } from '../works/workshop.ts';

export function command(): Command {
  return new Command('serve')
    .description('build if needed, file content/, press what is due, and serve')
    .action(serve);
}

/** Serves until SIGTERM or SIGINT, then finishes what is in flight. */
async function serve(): Promise<void> {
  const settings = readSettings();
  const logger = pino({ level: settings.logLevel }, pino.destination({ dest: 2, sync: true }));
  if (!isBuilt()) await buildPages();
  const shop = openWorkshop(settings);
  // The door's key is made on the first start, before anything is filed.
  void shop.desk.door;
  const { filed, problems } = await fileContent(shop);
  for (const problem of problems) process.stderr.write(`${problemLine(problem)}\n`);
  logger.info({ filed: filed.length, problems: problems.length }, 'filed content');
  await pressShowing(shop, {});
  const stopClock = startClock(shop, logger);
  const desk = await listenDesk(shop, logger);
  process.stdout.write(`ready desk=${desk.url}\n`);
  await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
  logger.info('stopping');
  await desk.close();
  await stopClock();
  shop.close();
}

/** Runs `astro build`, which also files and presses. Its own output goes to standard error: the ready line stands alone. */
async function buildPages(): Promise<void> {
  const astro = join(PROJECT, 'node_modules/astro/bin/astro.mjs');
  const build = spawn(process.execPath, [astro, 'build'], {
    cwd: PROJECT,
    stdio: ['ignore', 2, 2],
    env: environmentWith({ ASTRO_TELEMETRY_DISABLED: '1' }),
  });
  await once(build, 'exit');
  if (!isBuilt()) throw new Fault('unavailable', 'the pages could not be built; the lines above say why');
}
