import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { LOG_SERVICES } from '../../desk/log-leaves.ts';
import type { AppContext } from '../../server/context.ts';
import { CLI } from '../../shared/command-line.ts';
import { messageOf } from '../../shared/fault.ts';
import { digestOf } from '../../shared/files/file-digest.ts';
import { pushAll } from '../../shared/push-all.ts';
import type { Progress } from '../../shared/terminal/progress.ts';
import { auditLedger } from './ledger.ts';
import { auditLog } from './log/audit-log.ts';
import { auditRecords } from './records.ts';
import { auditTree } from './tree.ts';

export interface Audit {
  generations: number;
  observations: number;
  /** Observations that are marked as damaged by an older version. */
  damaged: number;
  /**
   * Observations in the archive: with --archive, those that were audited there; else those that only the archive has.
   */
  archived: number;
  /** Leaves of the transparency logs. */
  leaves: number;
  files: number;
  /** What is wrong, one sentence each. */
  faults: string[];
}

interface AuditOptions {
  /** Renders and draws everything again. */
  deep?: boolean | undefined;
  /** Reads every object of the archive, and rebuilds the observations that left the database. */
  archive?: boolean | undefined;
  /** Whether to compare the pressed files, and the media in DATA_DIR. */
  trees?: boolean;
  media?: boolean;
  progress?: Progress['step'];
}

/** Audits the database, the logs and the pressed trees. */
export async function auditApp(
  app: AppContext,
  { deep = false, archive = false, trees = true, media = true, progress = () => {} }: AuditOptions = {},
): Promise<Audit> {
  const { store } = app;
  const audit: Audit = {
    generations: 0,
    observations: 0,
    damaged: 0,
    archived: store.records.archive.awayCount(),
    leaves: 0,
    files: 0,
    faults: [],
  };
  const { faults } = audit;
  /** Runs one part. Damage that makes it throw becomes a fault, and the other parts still run. */
  const part = async (name: string, work: () => void | Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      faults.push(`${name}: it cannot be audited (${messageOf(error).split('\n')[0]})`);
    }
  };
  await part('database', () =>
    pushAll(
      faults,
      store.database.integrity().map((fault) => `database: ${fault}`),
    ),
  );
  await part('ledger', () => {
    audit.generations = auditLedger(app, faults, progress);
  });
  await part('search index', () => {
    if (deep)
      pushAll(
        faults,
        store.desk.indexFaults((done, total) => progress('audit the search index', done, total, '')),
      );
  });
  await part('records', () => {
    audit.observations = auditRecords(app, faults, progress);
    audit.damaged = store.records.damagedObservations().length;
  });
  let logged: Uint8Array | null = null;
  if (archive) {
    await part('archive', async () => {
      const { auditArchive } = await import('./archive.ts');
      const found = await auditArchive(app, faults, progress);
      audit.archived = found.observations;
      logged = found.logged;
    });
  }
  for (const log of LOG_SERVICES) {
    await part(`log of the ${log}`, async () => {
      audit.leaves += await auditLog(app, log, faults, progress, log === 'records' ? logged : null);
    });
  }
  await part('credits', () => pushAll(faults, store.records.credits.faults()));
  await part('plans', () => pushAll(faults, store.records.plans.faults()));
  for (const paper of store.desk.paperSlugs()) {
    await part(paper, async () => {
      const tree = trees ? await auditTree(app, paper, { deep, progress }) : { files: 0, faults: [] };
      audit.files += tree.files;
      pushAll(faults, tree.faults);
      if (media) pushAll(faults, mediaFaults(app, paper));
    });
  }
  if (!trees) return audit;
  for (const { slug } of store.desk.removedPapers()) {
    if (store.desk.manifest.newestStale(slug) === 0 && !existsSync(join(app.settings.distDir, slug))) continue;
    const press = `\`${CLI} press\``;
    faults.push(`${slug}: the paper was removed, and its files wait for the press; run ${press}`);
  }
  return audit;
}

/** Checks the media files in DATA_DIR, of which the trees contain copies. */
function mediaFaults({ store }: AppContext, paper: string): string[] {
  const faults: string[] = [];
  for (const { path, digest } of store.desk.allMedia(paper)) {
    const file = store.media.pathOf(digest);
    const found = digestOf(file);
    if (found !== digest) {
      const what = found === null ? 'missing' : 'damaged';
      const cure = `put ${file} back from a backup, or file it again, then run \`${CLI} press\``;
      const seen = store.desk.missingMedia.has(digest)
        ? 'readers see a stand-in'
        : 'the next press shows a stand-in unless the pressed tree or MEDIA_URL has the file';
      faults.push(`${paper}/${path}: its bytes in DATA_DIR are ${what}, and ${seen}; ${cure}`);
    } else if (store.desk.missingMedia.has(digest)) {
      faults.push(`${paper}/${path}: the file is back, but readers still see a stand-in; run \`${CLI} press\``);
    }
  }
  return faults;
}
