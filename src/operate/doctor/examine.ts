import { existsSync } from 'node:fs';
import { type AppContext, openAppContext } from '../../server/context.ts';
import type { Settings } from '../../server/env.ts';
import { databaseFile } from '../../shared/files/data-folder.ts';
import { plural } from '../../shared/plural.ts';
import { countPending } from '../../store/upgrade-plan.ts';
import { checkAddresses, checkProxy } from './addresses.ts';
import { checkHosts, checkLanguages, checkLease, checkLogs, checkMedia, checkPublish } from './desk.ts';
import { type Finding, type Found, holds, open, runCheck, runChecks } from './finding.ts';
import { checkBackups, checkMachine } from './machine.ts';
import { checkNetwork } from './network.ts';
import { checkArchive, checkDumps, checkQueues } from './queues.ts';
import { checkRunning } from './running.ts';

/** Checks an installation, starting with its settings. If `readSettings` throws, the other checks are skipped. */
export async function examine(readSettings: () => Settings): Promise<Finding[]> {
  let settings: Settings | undefined;
  const first = await runCheck('settings', () => {
    settings = readSettings();
    return holds('all are valid');
  });
  return settings === undefined ? [first] : [first, ...(await checkAll(settings))];
}

async function checkAll(settings: Settings): Promise<Finding[]> {
  let app = null as AppContext | null;
  const network = checkNetwork(settings);
  const older = await runCheck('database', () => checkVersion(settings));
  // A check must not upgrade the database, and without it, little else can be checked.
  if (older.state === 'open') return [older, ...(await network)];
  const opened = await runCheck('database', () => {
    // A check must not create the database.
    if (existsSync(databaseFile(settings))) app = openAppContext(settings);
    return holds('it can be opened');
  });
  try {
    const here = await checkMachine(settings, app);
    // Report a database that cannot be opened as a fault, not as missing.
    if (opened.state === 'fault') here[0] = opened;
    const { services } = settings;
    const running = checkRunning(settings, app);
    // Checks that wait for the network or the disk run at the same time.
    const [logs, addresses, elsewhere, { findings }, queues] = await Promise.all([
      checkLogs(settings, app),
      checkAddresses(settings, app),
      runChecks([
        ['hosts of papers', () => checkHosts(app as AppContext), services.desk && app !== null],
        ['languages', () => checkLanguages(app), services.desk],
        ['proxy', () => checkProxy(settings, app)],
        ['publish', () => checkPublish(settings, app), services.desk],
        ['media', () => checkMedia(settings, app), services.desk],
        ['lease', () => checkLease(settings, app)],
        [
          'archive',
          () => checkArchive(settings, app as AppContext),
          services.records &&
            app !== null &&
            (settings.archiveUrl !== null || app.store.records.archive.newest() !== null),
        ],
        [
          'dumps',
          () => checkDumps(settings, app as AppContext),
          services.records && app !== null && (settings.dumps !== null || app.store.records.dumps.shownCount() > 0),
        ],
        ['backups', () => checkBackups(settings, Date.now())],
      ]),
      running,
      running.then((server) => checkQueues(settings, app, server)),
    ]);
    return [...here, ...logs, ...addresses, ...elsewhere, ...findings, ...queues, ...(await network)];
  } finally {
    app?.close();
  }
}

function checkVersion(settings: Settings): Found {
  const pending = countPending(databaseFile(settings));
  if (pending === 0) return holds('it belongs to this version');
  return open(
    `it belongs to an older version: the next start runs ${plural(pending, 'migration')}; doctor --upgrade says what changes; the other checks need an upgraded database`,
  );
}
