import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { sha256 } from '../../proof/basis.ts';
import { MINUTE } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';

/** For how long a process that reads a source may keep others from it, in ms: longer than any reading takes. */
export const CLAIM = 30 * MINUTE;

/**
 * Writes files to disk, then signs what names them. They are noted before: what a process that dies in between leaves
 * behind is swept. Whatever was swept meanwhile, from a process that stood still, is not signed.
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

/** How many files one transaction of the sweep looks at. */
const SWEEP_BATCH = 100;

/**
 * Removes texts and archives that nothing names: those of a process that died before it signed, and those that newer
 * ones replaced. None that was written within a claim's time. A file is removed while no other process can write.
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

/** Removes a file, and what was written of it before a process died. */
function removeFile(path: string): void {
  rmSync(path, { force: true });
  const folder = dirname(path);
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    if (name.startsWith(`.${basename(path)}.`)) rmSync(join(folder, name), { force: true });
  }
}
