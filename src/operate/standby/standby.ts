import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pressPapers } from '../../desk/jobs/press-run.ts';
import { LOG_SERVICES } from '../../desk/log-leaves.ts';
import { withAppContext } from '../../server/context.ts';
import type { Settings } from '../../server/env.ts';
import { Fault, messageOf } from '../../shared/fault.ts';
import { databaseFile } from '../../shared/files/data-folder.ts';
import { RESTORING } from '../../shared/files/restore-folder.ts';
import { plural } from '../../shared/plural.ts';
import { lockFile } from '../../shared/sql/file-lock.ts';
import { type FoundBackup, newestBackup } from '../../shared/storage/backup-location.ts';
import { putCopy, readCopyNote, stageIn, writeCopyNote } from '../../signing/standby-copy.ts';
import { auditApp } from '../audit/audit.ts';
import { restore } from '../backup/restore.ts';

/** A server that serves the copy, in a process of its own. */
export interface CopyServer {
  /** Resolves with the exit code. */
  ended: Promise<number>;
  /** Ends the server in an orderly way. Resolves with the exit code. */
  stop(): Promise<number>;
}

interface StandbyOptions {
  settings: Settings;
  /** Where the backups are. */
  from: string;
  /** How often to look for a newer one, in ms. */
  every: number;
  /** Starts a server of DATA_DIR; `copy` is the id of its note. */
  serve(copy: string | undefined): CopyServer;
  /** Resolves when the pages are built, which presses need. */
  built: Promise<void>;
  say(line: string): void;
  signal: AbortSignal;
}

/**
 * Keeps a copy of another machine's desk: restores each newer backup, audits, serves and presses it, until its server
 * takes the lease and ends. Returns the exit code, 0 when stopped.
 */
export async function standBy(options: StandbyOptions): Promise<number> {
  const { dataDir, leaseUrl } = options.settings;
  if (leaseUrl === null) {
    const message = 'LEASE_URL is not set, and without it nobody knows who signs; set it on both servers';
    throw new Fault('invalid_request', message);
  }
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const unlock = lockFile(join(dataDir, '.standby.lock'));
  if (unlock === null) throw new Fault('conflict', `another standby is using ${dataDir}; stop it first`);
  const keeper = copyKeeper(options);
  try {
    return await keeper.run();
  } finally {
    await keeper.end();
    unlock();
  }
}

function copyKeeper({ settings, from, every, serve, built, say, signal }: StandbyOptions) {
  const { dataDir } = settings;
  let server: CopyServer | null = null;
  /** The version of the backup that is served, or that was rejected. */
  let seen = '';
  let lastFailure = '';
  /** The number of leaves of each log in the copy that is served. */
  const sizes = { desk: 0, records: 0 };

  /** Whether the folder holds nothing but what came from backups. */
  const isReplaceable = () => readCopyNote(dataDir) !== null || !existsSync(databaseFile(settings));

  function start(): void {
    server = serve(readCopyNote(dataDir)?.id);
  }

  async function end(): Promise<void> {
    await server?.stop();
    server = null;
  }

  async function serveAndPress(): Promise<void> {
    start();
    await built;
    await withAppContext(settings, async (app) => {
      for (const log of LOG_SERVICES) sizes[log] = app.store.database.log.size(log);
      await pressPapers(app, { fetchesMedia: true });
    });
  }

  /** Cleans up a folder in which putting a copy into place was interrupted. */
  async function recover(): Promise<void> {
    const under = join(dataDir, RESTORING);
    if (!existsSync(under)) return;
    const unlock = lockFile(join(under, '.lock'));
    if (unlock === null) throw new Fault('conflict', `a restore into ${dataDir} is under way; wait for it`);
    unlock();
    await rm(under, { recursive: true });
  }

  /** Restores and audits a backup aside. Returns when it was made; null when it cannot be used. */
  async function stage({ version, location }: FoundBackup): Promise<string | null> {
    const aside = stageIn(dataDir);
    await rm(aside, { recursive: true, force: true });
    const { manifest } = await restore(location, aside, () => {});
    const there = { ...settings, dataDir: aside, distDir: join(aside, 'papers'), logDir: join(aside, 'log') };
    const fault = await withAppContext(there, async (app) => {
      const { faults } = await auditApp(app, { trees: false, media: false });
      if (faults.length > 0) return `${plural(faults.length, 'fault')}, the first: ${faults[0]}`;
      for (const log of LOG_SERVICES) {
        const [has, had] = [app.store.database.log.size(log), sizes[log]];
        if (has < had) return `it has ${has} leaves of the log of the ${log}, and the copy here has ${had}`;
      }
      // Presses every file, because the tree on this disk belongs to another copy than this manifest.
      app.store.database.transact(() => {
        for (const paper of app.store.desk.paperSlugs()) app.store.desk.manifest.setStamp(paper, '');
      });
      return null;
    });
    if (fault !== null) {
      say(`the backup ${location.name} is not used: ${fault}`);
      await rm(aside, { recursive: true });
      return null;
    }
    writeCopyNote(aside, { id: randomUUID(), backup: location.name, version, made_at: manifest.made_at });
    return manifest.made_at;
  }

  async function refresh(): Promise<void> {
    const found = await newestBackup(settings, from);
    if (found === null) throw new Fault('not_found', `there is no backup at ${from} yet`);
    if (found.version === seen) return;
    const begun = performance.now();
    const made = await stage(found);
    seen = found.version;
    if (made === null) return;
    // Until here the server served the previous copy. If it took the lease meanwhile, no backup has what it did since.
    await end();
    if (!isReplaceable()) {
      await rm(stageIn(dataDir), { recursive: true });
      say('this server took the lease meanwhile, and keeps its copy');
      start();
      return;
    }
    await putCopy(dataDir);
    await serveAndPress();
    lastFailure = '';
    const ms = Math.round(performance.now() - begun);
    say(`standing by with the backup of ${made}, restored, audited and pressed in ${ms} ms`);
  }

  async function run(): Promise<number> {
    const note = readCopyNote(dataDir);
    if (note !== null) {
      seen = note.version;
      await serveAndPress();
    } else if (existsSync(databaseFile(settings))) {
      say(
        `${dataDir} is not the copy of a standby, or it has signed: it is served as it is, and no backup replaces it`,
      );
      start();
    } else await recover();
    while (!signal.aborted) {
      if (isReplaceable()) {
        await refresh().catch((error: unknown) => {
          // Print an error only once, until another one occurs or a refresh succeeds.
          const line = messageOf(error);
          if (line !== lastFailure) say(`${line}; trying again`);
          lastFailure = line;
        });
      }
      const pause = sleep(every, undefined, { signal }).catch(() => {});
      const code = await Promise.race([pause, server?.ended ?? pause]);
      if (typeof code === 'number') return code;
    }
    return 0;
  }

  return { run, end };
}
