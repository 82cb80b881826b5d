import { parentPort, workerData } from 'node:worker_threads';
import { Fault, stackOf } from '../fault.ts';
import { mediaFiles } from '../files/media.ts';
import { Tree } from '../files/tree.ts';
import type { RenderResult } from '../press/printer.ts';
import { Printer } from '../press/printer.ts';
import { Snapshots } from '../store/snapshots.ts';
import { loadBuild } from './build.ts';
import { openPictures } from './pictures.ts';
import { ClaimDeadline } from './press-claim.ts';
import type { WorkerCall, WorkerJob, WorkerMessage, WorkerStart } from './press-pool.ts';

// The thread behind `WorkerPool`: prints the outputs that it receives, and replies with the results.

const { settings, database, media: mediaFolder }: WorkerStart = workerData;
const media = mediaFiles(mediaFolder);
const pictures = openPictures(settings, media);
const snapshot = new Snapshots(database).take();
const build = loadBuild();
let printer: Promise<Printer> | null = null;
/** What is printed now: batches come ahead of their turn. */
let printing: Promise<unknown> = Promise.resolve();

function takeSnapshot(): WorkerMessage {
  snapshot.refresh();
  return { mark: snapshot.store.manifest.highestMarkOfAll() };
}

async function printerFor(job: WorkerJob): Promise<Printer> {
  const { store } = snapshot;
  const { paper, site, folder, scratch, isNew, now, deadline, how } = job;
  const { render, assets } = await build;
  const assertClaim = new ClaimDeadline(deadline).assertHeld;
  return new Printer({
    paper,
    archive: store.archive(paper),
    manifest: how.isListed ? store.manifest : null,
    site,
    tree: new Tree(folder, { aside: scratch, sync: false, isNew, assertClaim }),
    tools: { render, assets, pictures, now },
    mediaFile: media.pathOf,
    checksDisk: how.checksDisk,
  });
}

async function print(names: string[]): Promise<WorkerMessage> {
  if (printer === null) throw new Error('a press worker was sent outputs before their job');
  const results: RenderResult[] = [];
  await (await printer).printAll(names, (result) => results.push(result));
  return { results };
}

async function answer(call: WorkerCall): Promise<WorkerMessage | null> {
  if ('snapshot' in call) return takeSnapshot();
  if ('names' in call) {
    const printed = printing.then(() => print(call.names));
    printing = printed.catch(() => {});
    return printed;
  }
  printer = printerFor(call.job);
  // The first `print` awaits the promise and reports the failure.
  printer.catch(() => {});
  return null;
}

function failure(error: unknown): WorkerMessage {
  return {
    failure:
      error instanceof Fault
        ? { code: error.code, message: error.message, details: error.details }
        : { code: null, message: stackOf(error), details: {} },
  };
}

parentPort?.on('message', (call: WorkerCall) => {
  answer(call).then(
    (message) => {
      if (message !== null) parentPort?.postMessage(message);
    },
    (error: unknown) => parentPort?.postMessage(failure(error)),
  );
});
