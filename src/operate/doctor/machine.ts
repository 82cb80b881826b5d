import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { LOG_SERVICES } from '../../desk/log-leaves.ts';
import { isBuilt } from '../../desk/press/build.ts';
import { DAY, isoTime } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import type { Settings } from '../../server/env.ts';
import { CLI } from '../../shared/command-line.ts';
import { codeOf } from '../../shared/fault.ts';
import { databaseFile, signingKeyFile } from '../../shared/files/data-folder.ts';
import { nearestFolder } from '../../shared/files/plain-file.ts';
import { sizeText } from '../../shared/size.ts';
import { clockFault, spanText, TOLERANCE } from '../../signing/clock/clock-guard.ts';
import { askOutside } from '../../signing/clock/clock-watch.ts';
import { readSigningKey } from '../../signing/signing-key.ts';
import { signingNameProblem } from '../../signing/signing-name.ts';
import { lastBackup } from '../backup/backup-source.ts';
import { programAt } from './addresses.ts';
import { type Finding, type Found, fault, holds, open, runChecks } from './finding.ts';
import { listenRefusal, urlAt } from './running.ts';

/** The minimum free disk space, in bytes: one day of 100,000 probes. */
const LEAST_SPACE = 500_000_000;
/** A longer write-ahead log is a fault, in bytes. As in deploy/prometheus/alerts.yml. */
const LOG_MAX = 2e9;

/** Checks this machine. `app` is null when there is no database yet. */
export function checkMachine(settings: Settings, app: AppContext | null): Promise<Finding[]> {
  const { services } = settings;
  return runChecks([
    ['database', () => database(settings, app)],
    ['door key', () => doorKey(settings, app)],
    ['clock', () => clock(settings, app)],
    ['data folder', () => folder('DATA_DIR', settings.dataDir)],
    ['papers folder', () => folder('DIST_DIR', settings.distDir), services.desk],
    ['log folder', () => folder('LOG_DIR', settings.logDir)],
    ['pages', pages],
    ['port of the desk', () => port(settings, 'PORT', settings.port), services.desk],
    ['port of the records', () => port(settings, 'RECORDS_PORT', settings.recordsPort), services.records],
  ]);
}

function database(settings: Settings, app: AppContext | null) {
  if (app === null) return open('there is none yet; the first start creates it');
  const { faults, size, free } = app.store.database.soundness();
  if (faults.length > 0) return fault(faults.join('; '), 'restore it from a backup or a ledger export');
  const log = statSync(`${databaseFile(settings)}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  const figures = { bytes: size, free_bytes: free, log_bytes: log };
  if (log > LOG_MAX) {
    return fault(
      `its write-ahead log has ${sizeText(log)}`,
      'a process has been reading one state of the database for a long time: stop the backup or query that hangs',
      figures,
    );
  }
  return holds(`${sizeText(size)} and sound, ${sizeText(free)} of it free`, figures);
}

function doorKey(settings: Settings, app: AppContext | null) {
  const file = signingKeyFile(settings);
  const keys = app?.store.desk.signingKeys() ?? [];
  const present = keys.find(({ retired_at }) => retired_at === null);
  if (!existsSync(file)) {
    if (present === undefined) return open('there is none yet; the first start creates it');
    return fault(
      `${file} does not exist, and the ledger was signed with a key`,
      'restore it from a backup; without it the next start makes another key and retires this one',
    );
  }
  const { kid } = readSigningKey(file);
  if ((statSync(file).mode & 0o077) !== 0) return fault(`${file} can be read by others`, `chmod 600 ${file}`);
  if (present !== undefined && present.kid !== kid) {
    return fault(
      `${file} holds key ${kid}, and the ledger is signed with ${present.kid}`,
      keys.some((key) => key.kid === kid)
        ? `restore the file of the key in force, or run \`${CLI} key rotate\`; until then nothing is signed`
        : 'restore the key file that belongs to this database; a start with this one retires the other key',
    );
  }
  const services = LOG_SERVICES.filter((service) => settings.services[service]);
  const problem =
    app === null ? null : services.map((one) => signingNameProblem(app.store, settings, one)).find(Boolean);
  const [said = '', cure = ''] = problem?.split('; ') ?? [];
  return problem == null ? holds(`key ${kid}`) : fault(`nothing is signed: ${said}`, cure);
}

/** Checks the clock by the rules of a starting server. */
async function clock(settings: Settings, app: AppContext | null) {
  const now = app?.clock.now ?? Date.now;
  const outside = await askOutside(settings, now);
  const newest = app?.store.database.newestTime() ?? 0;
  const found = clockFault({ now: { wall: now(), steady: 0 }, trusted: null, newest, outside });
  if (found !== null) {
    const [said = '', ...cure] = found.message.split(': ');
    return fault(`${said}, so nothing is signed`, cure.join(': '));
  }
  const off = outside.filter(({ ahead }) => Math.abs(ahead) > TOLERANCE).map(({ name }) => name);
  const others = off.length === 0 ? '' : `; ${off.join(' and ')} would have another time`;
  return holds(`it is ${isoTime(now())}${others}`);
}

function folder(setting: string, path: string) {
  // The first start creates missing folders.
  const there = nearestFolder(path);
  try {
    accessSync(there, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return fault(`${there} is not writable`, `make it writable for this user, or set ${setting} to another folder`);
  }
  const { bavail, blocks, bsize } = statfsSync(there);
  const space = bavail * bsize;
  const figures = { free_bytes: space, disk_bytes: blocks * bsize };
  if (space < LEAST_SPACE) {
    return fault(`only ${sizeText(space)} free at ${path}`, 'free some space on that disk', figures);
  }
  return holds(`${path}, ${sizeText(space)} free`, figures);
}

function pages() {
  return isBuilt() ? holds('they match the code') : fault('they do not match the code', 'run `npm run build`');
}

/** Checks that a port is free, or that this program already listens on it. */
async function port({ host, services, ...settings }: Settings, setting: string, port: number) {
  if (port === 0) return holds('any free port');
  if (services.desk && services.records && settings.port === settings.recordsPort) {
    return fault(`PORT and RECORDS_PORT are both ${port}`, 'set one of them to another port');
  }
  const refusal = await listenRefusal({ host, port });
  if (refusal === null) return holds(`${port} is free`);
  if (codeOf(refusal) !== 'EADDRINUSE') {
    return fault(`${host}:${port}: ${refusal.message}`, `set ${setting} or HOST to one that this user may listen on`);
  }
  if ((await programAt(urlAt(host, port))) === 'ours') return holds(`this program already listens on ${port}`);
  return fault(`${port} is taken by another program`, `set ${setting} to another port`);
}

/** When the last backup is older than this, regular backups have stopped, in ms. As in deploy/prometheus/alerts.yml. */
const OLD = 2 * DAY;

/** Checks the age of the last backup of this DATA_DIR by `backup`. */
export function checkBackups(settings: Settings, now: number): Found {
  const last = lastBackup(settings);
  if (last === null) return open('`backup` has made none on this machine; docs/backup.md says how to keep them');
  const age = Math.max(0, now - last.at);
  const figures = { age_seconds: Math.round(age / 1_000), bytes: last.bytes };
  const found = `the last one was made at ${isoTime(last.at)}, ${spanText(age)} ago, and is at ${last.place}`;
  if (age <= OLD) return holds(found, figures);
  return fault(found, `run \`${CLI} backup\` regularly, as from cron`, figures);
}
