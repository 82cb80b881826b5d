import { join } from 'node:path';
import { threadId, workerData } from 'node:worker_threads';
import { mediaFiles } from '../../media/media.ts';
import type { Settings } from '../../server/env.ts';
import { Fault } from '../../shared/fault.ts';
import { databaseFile, mediaFolder } from '../../shared/files/data-folder.ts';
import { snapshotPool } from '../../store/snapshots.ts';
import { loadBuild } from '../press/build.ts';
import type { PrintedOutput } from '../press/manifest.ts';
import { openPictures } from '../press/pictures.ts';
import { type Printer, printerOf } from '../press/press.ts';
import { openTree } from '../press/tree.ts';
import { LeaseDeadline } from './press-lease.ts';
import type { Printed, WorkerJob } from './press-pool.ts';

// The functions that the threads of `PressPool` run.

const settings: Settings = workerData;
const media = mediaFiles(mediaFolder(settings));
const pictures = openPictures(settings, media);
const snapshot = snapshotPool(databaseFile(settings)).take();
const build = loadBuild();
// Avoids an unhandled rejection: the first `print` awaits it and reports the failure.
build.catch(() => {});
/** The printer of the press that took the last snapshot. */
let printer: Promise<Printer> | null = null;

/** Begins a press. Returns the highest change number in the snapshot. */
export function takeSnapshot(): number {
  printer = null;
  snapshot.refresh();
  return snapshot.store.desk.manifest.lastChangeOfAll();
}

export async function print({ job, names }: { job: WorkerJob; names: string[] }): Promise<Printed> {
  const results: PrintedOutput[] = [];
  try {
    printer ??= printerFor(job);
    await (await printer).printAll(names, (result) => results.push(result));
    return { results };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { fault: { code: error.code, message: error.message, details: error.details } };
  }
}

async function printerFor(job: WorkerJob): Promise<Printer> {
  const { store } = snapshot;
  const { paper, site, folder, scratch, isNew, now, deadline, checksDisk } = job;
  const { render, assets } = await build;
  const aside = join(scratch, `thread-${threadId}`);
  const { assertHeld } = new LeaseDeadline(deadline);
  return printerOf({
    paper,
    archive: store.desk.archive(paper),
    manifest: store.desk.manifest,
    site,
    tree: openTree(folder, { aside, sync: false, isNew, assertHeld }),
    tools: { render, assets, pictures, now },
    mediaFile: media.pathOf,
    checksDisk,
  });
}
