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
import { type FoundBackup, newestBackup } from '../../shared/storage/backup-place.ts';
import { putCopy, readCopyNote, stageIn, writeCopyNote } from '../../signing/standby-copy.ts';
import { auditApp } from '../audit/run-audit.ts';
import { restore } from '../backup/restore.ts';

/** A server of the copy, in a process of its own. */
export interface CopyServer {
  /** Resolves with the exit code. */
  ended: Promise<number>;
  /** Ends it in order. */
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
  const { settings } = options;
  if (settings.leaseUrl === null) {
    throw new Fault(
      'invalid_request',
      'LEASE_URL is not set, and without it nobody knows who signs; set it on both servers',
    );
  }
  await mkdir(settings.dataDir, { recursive: true, mode: 0o700 });
  const unlock = lockFile(join(settings.dataDir, '.standby.lock'));
  if (unlock === null) throw new Fault('conflict', `another standby keeps ${settings.dataDir}; end it first`);
  const keeper = new CopyKeeper(options);
  try {
    return await keeper.run();
  } finally {
    await keeper.end();
    unlock();
  }
}

class CopyKeeper {
  readonly #options: StandbyOptions;
  readonly #dataDir: string;
  #server: CopyServer | null = null;
  /** The backup that is served, or was found to be of no use. */
  #seen = '';
  #told = '';
  /** The leaves of the copy that is served. */
  readonly #sizes = { desk: 0, records: 0 };

  constructor(options: StandbyOptions) {
    this.#options = options;
    this.#dataDir = options.settings.dataDir;
  }

  async run(): Promise<number> {
    const { every, signal, say } = this.#options;
    const note = readCopyNote(this.#dataDir);
    if (note !== null) {
      this.#seen = note.version;
      await this.#serveAndPress();
    } else if (existsSync(databaseFile(this.#options.settings))) {
      say(
        `${this.#dataDir} is not the copy of a standby, or it has signed: it is served as it is, and no backup replaces it`,
      );
      this.#start();
    } else await this.#recover();
    while (!signal.aborted) {
      if (this.#isReplaceable()) await this.#refresh().catch((error: unknown) => this.#tell(error));
      const pause = sleep(every, undefined, { signal }).catch(() => {});
      const code = await Promise.race([pause, this.#server?.ended ?? pause]);
      if (typeof code === 'number') return code;
    }
    return 0;
  }

  async end(): Promise<void> {
    await this.#server?.stop();
    this.#server = null;
  }

  /** Whether the folder holds nothing but what came from backups. */
  #isReplaceable(): boolean {
    return readCopyNote(this.#dataDir) !== null || !existsSync(databaseFile(this.#options.settings));
  }

  /** Takes up a folder in which putting a copy was broken off. */
  async #recover(): Promise<void> {
    const under = join(this.#dataDir, RESTORING);
    if (!existsSync(under)) return;
    const unlock = lockFile(join(under, '.lock'));
    if (unlock === null) throw new Fault('conflict', `a restore into ${this.#dataDir} is under way; wait for it`);
    unlock();
    await rm(under, { recursive: true });
  }

  async #refresh(): Promise<void> {
    const { settings, from, say } = this.#options;
    const found = await newestBackup(settings, from);
    if (found === null) throw new Fault('not_found', `there is no backup at ${from} yet`);
    if (found.version === this.#seen) return;
    const begun = performance.now();
    const made = await this.#stage(found);
    this.#seen = found.version;
    if (made === null) return;
    // Until here it served the copy before. What it did since it has the lease is in no backup.
    await this.#server?.stop();
    this.#server = null;
    if (!this.#isReplaceable()) {
      await rm(stageIn(this.#dataDir), { recursive: true });
      say('this server took the lease meanwhile, and keeps its copy');
      this.#start();
      return;
    }
    await putCopy(this.#dataDir);
    await this.#serveAndPress();
    this.#told = '';
    say(
      `standing by with the backup of ${made}, restored, audited and pressed in ${Math.round(performance.now() - begun)} ms`,
    );
  }

  /** Restores and audits a backup aside. Returns when it was made; null when it is of no use. */
  async #stage(found: FoundBackup): Promise<string | null> {
    const { settings, say } = this.#options;
    const stage = stageIn(this.#dataDir);
    await rm(stage, { recursive: true, force: true });
    const { manifest } = await restore(found.place, stage, () => {});
    const aside = { ...settings, dataDir: stage, distDir: join(stage, 'papers'), logDir: join(stage, 'log') };
    const fault = await withAppContext(aside, async (app) => {
      const { faults } = await auditApp(app, { trees: false, media: false });
      if (faults.length > 0) return `${plural(faults.length, 'fault')}, the first: ${faults[0]}`;
      for (const log of LOG_SERVICES) {
        const [has, had] = [app.store.database.log.size(log), this.#sizes[log]];
        if (has < had) return `it has ${has} leaves of the log of the ${log}, and the copy here has ${had}`;
      }
      // The tree on this disk belongs to another copy, despite this copy's manifest.
      app.store.database.transact(() => {
        for (const paper of app.store.desk.paperSlugs()) app.store.desk.manifest.setStamp(paper, '');
      });
      return null;
    });
    if (fault !== null) {
      say(`the backup ${found.place.name} is not used: ${fault}`);
      await rm(stage, { recursive: true });
      return null;
    }
    const { version, place } = found;
    writeCopyNote(stage, { id: randomUUID(), backup: place.name, version, made_at: manifest.made_at });
    return manifest.made_at;
  }

  async #serveAndPress(): Promise<void> {
    const { settings, built } = this.#options;
    this.#start();
    await built;
    await withAppContext(settings, async (app) => {
      for (const log of LOG_SERVICES) this.#sizes[log] = app.store.database.log.size(log);
      await pressPapers(app, { fetchesMedia: true });
    });
  }

  #start(): void {
    this.#server = this.#options.serve(readCopyNote(this.#dataDir)?.id);
  }

  /** Says what fails once, until something else does, or nothing. */
  #tell(error: unknown): void {
    const line = messageOf(error);
    if (line !== this.#told) this.#options.say(`${line}; trying again`);
    this.#told = line;
  }
}
