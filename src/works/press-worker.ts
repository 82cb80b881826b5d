import { parentPort, workerData } from 'node:worker_threads';
import { Fault } from '../fault.ts';
import type { Result } from '../press/printer.ts';
import { Printer } from '../press/printer.ts';
import { Tree } from '../press/tree.ts';
import { loadBuild } from './build.ts';
import { ClaimDeadline } from './press-claim.ts';
import type { CrewOrder, CrewWord } from './press-crew.ts';
import { openWorkshop } from './workshop.ts';

// One more hand at the press: prints the sheets it is named and answers with what came of them.

const { settings, paper, place, folder, aside, isNew, looks, now, deadline } = workerData as CrewOrder;
const say = (word: CrewWord): void => parentPort?.postMessage(word);

async function ready(): Promise<Printer> {
  const { store, media } = openWorkshop(settings);
  const { render, assets } = await loadBuild();
  return new Printer({
    paper,
    archive: store.archive(paper),
    manifest: store.manifest,
    place,
    tree: new Tree(folder, { aside, sync: false, isNew, needClaim: new ClaimDeadline(deadline).need }),
    tools: { render, assets, now },
    mediaFile: media.pathOf,
    looks,
  });
}

async function printed(printer: Promise<Printer>, names: string[]): Promise<CrewWord> {
  const results: Result[] = [];
  try {
    await (await printer).printAll(names, (result) => results.push(result));
    return { results };
  } catch (error) {
    const { message, stack } = error as Error;
    return {
      failure:
        error instanceof Fault
          ? { code: error.code, message, details: error.details }
          : { code: null, message: stack ?? message, details: {} },
    };
  }
}

const printer = ready();
parentPort?.on('message', (names: string[]) => void printed(printer, names).then(say));
say({ results: [] });
