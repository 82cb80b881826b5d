import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { sha256 } from '../../proof/basis.ts';
import { MINUTE } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';

/** How long a process that reads a source may keep others from reading it, in ms: longer than any reading takes. */
export const CLAIM = 30 * MINUTE;

/**
 * Writes files to disk, then signs what names them. Notes the files first, so that the sweep finds those that a process
 * leaves behind if it dies in between. If the sweep removed a file meanwhile, because this process was suspended,
 * nothing is signed.
 */
export async function keptAndSigned<State>(app: AppContext, keep: readonly Uint8Array[], sign: () => State[]) {
  const { database, desk, media } = app.store;
  const files = keep.map((bytes) => ({ bytes, digest: sha256(bytes) }));
  const digests = files.map(({ digest }) => digest);
  await database.groupCommit(() => noteFiles(app, digests), Number.POSITIVE_INFINITY);
  for (const { digest, bytes } of files) media.keepBytes(digest, bytes);
  const signed = () => {
    if (digests.every((digest) => desk.evidence.isSourceFileNoted(digest))) return sign();
    noteFiles(app, digests);
    return [];
  };
  return database.groupCommit(signed, Number.POSITIVE_INFINITY);
}

/** Notes files that may be on disk without evidence that names them. */
export function noteFiles({ store, clock }: AppContext, digests: readonly (string | null | undefined)[]): void {
  for (const digest of digests) if (digest) store.desk.evidence.noteSourceFile(digest, clock.now());
}

/** How many files one transaction of the sweep checks. */
const SWEEP_BATCH = 100;

/**
 * Removes texts and archives that no evidence names: files of a process that died before it signed, and files that
 * newer ones replaced. Keeps files written within the duration of a claim. Each file is removed in a transaction, so
 * that no other process can write meanwhile.
 */
export function sweepSources({ store, clock }: AppContext): void {
  const { evidence } = store.desk;
  const sweepBatch = (): number => {
    const digests = evidence.sourceFiles(clock.now() - CLAIM, SWEEP_BATCH);
    for (const digest of digests) {
      if (!evidence.needsSourceFile(digest)) removeFile(store.media.pathOf(digest));
      evidence.forgetSourceFile(digest);
    }
    return digests.length;
  };
  while (store.database.transact(sweepBatch) === SWEEP_BATCH);
}

/** Removes a file, and partial writes of it that a killed process left. */
function removeFile(path: string): void {
  rmSync(path, { force: true });
  const folder = dirname(path);
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    if (name.startsWith(`.${basename(path)}.`)) rmSync(join(folder, name), { force: true });
  }
}
