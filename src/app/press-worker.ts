import { parentPort, workerData } from 'node:worker_threads';
import type { Settings } from '../env.ts';
import { Fault } from '../fault.ts';
import { mediaFiles } from '../files/media.ts';
import { Tree } from '../files/tree.ts';
import type { RenderResult } from '../press/printer.ts';
import { Printer } from '../press/printer.ts';
import { Snapshots } from '../store/snapshots.ts';
import { loadBuild } from './build.ts';
import { databaseFile, mediaFolder } from './context.ts';
import { ClaimDeadline } from './press-claim.ts';
import type { WorkerCall, WorkerMessage, WorkerJob } from './press-pool.ts';

// One more hand at the press: prints the sheets it is named and answers with what came of them.

const settings = workerData as Settings;
const media = mediaFiles(mediaFolder(settings));
const snapshot = new Snapshots(databaseFile(settings)).take();
const build = loadBuild();
let printer: Promise<Printer> | null = null;

function hold(): WorkerMessage {
  snapshot.hold();
  return { held: snapshot.store.manifest.highestMarkOfAll() };
}

async function printerFor(order: WorkerJob): Promise<Printer> {
  const { store } = snapshot;
  const { paper, site: place, folder, scratch: aside, isNew, checksDisk: looks, now, deadline } = order;
  const { render, assets } = await build;
  return new Printer({
    paper,
    archive: store.archive(paper),
    manifest: store.manifest,
    place,
    tree: new Tree(folder, { aside, sync: false, isNew, assertClaim: new ClaimDeadline(deadline).assertHeld }),
    tools: { render, assets, now },
    mediaFile: media.pathOf,
    checksDisk: looks,
  });
}

async function print(names: string[]): Promise<WorkerMessage> {
  if (printer === null) throw new Error('sheets came before the order that they are of');
  const results: RenderResult[] = [];
  await (await printer).printAll(names, (result) => results.push(result));
  return { results };
}

async function answer(call: WorkerCall): Promise<WorkerMessage | null> {
  if ('hold' in call) return hold();
  if ('names' in call) return print(call.names);
  printer = printerFor(call.order);
  // Whoever prints hears of what went wrong.
  printer.catch(() => {});
  return null;
}

function failure(error: unknown): WorkerMessage {
  const { message, stack } = error as Error;
  return {
    failure:
      error instanceof Fault
        ? { code: error.code, message, details: error.details }
        : { code: null, message: stack ?? message, details: {} },
  };
}

parentPort?.on('message', (call: WorkerCall) => {
  answer(call).then(
    (word) => {
      if (word !== null) parentPort?.postMessage(word);
    },
    (error: unknown) => parentPort?.postMessage(failure(error)),
  );
});
