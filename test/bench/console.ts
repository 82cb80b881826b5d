import { fileStory } from '../../src/desk/file-story.ts';
import { deskOf } from '../../src/server/context.ts';
import { seatAt } from '../support/console-seat.ts';
import { confirmedReader } from '../support/readers.ts';
import { start } from './load.ts';
import { type Bench, environmentOf, filedPaper, openPaper, PAPER } from './paper.ts';
import { pieceAt } from './pieces.ts';
import { type Figure, median, millis, note } from './table.ts';

const DRAFTS = 500;
const READERS = 50_000;
/** How long a page may take, in ms. */
const BUDGET = 100;
/** A page is asked for so many times, one after another; the first ones warm it. */
const ROUNDS = 15;
const WARM = 3;

/** How long the server takes for each page of a console, beside all pieces of the largest paper. */
export async function consolePart(bench: Bench): Promise<Figure[]> {
  const size = Math.max(...bench.sizes);
  const folder = filedPaper(bench, size, 'console');
  const piece = seed(folder, bench, size);
  const desk = await start(['desk'], { ...environmentOf(folder), ORIGIN: 'http://localhost:4321' });
  try {
    const seat = seatAt(desk.url, folder, PAPER, 'admin');
    const pages: [name: string, path: string][] = [
      ['today', ''],
      ['pieces', 'pieces'],
      ['drafts', 'pieces?state=draft'],
      ['pieces of a section', 'pieces?section=Law'],
      ['pieces with a word', 'pieces?q=year'],
      ['a piece', `pieces/${piece}`],
      ['its changes', `pieces/${piece}/changes`],
      ['its editor', `pieces/${piece}/edit`],
      ['front', 'front'],
      ['settings', 'settings'],
      ['agents', 'agents'],
      ['readers', 'readers'],
      ['webhooks', 'webhooks'],
      ['activity', 'activity'],
      ['sessions', 'sessions'],
    ];
    const figures: Figure[] = [];
    for (const [name, path] of pages) {
      const times: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const began = performance.now();
        const { status } = await seat.get(path);
        if (status !== 200) throw new Error(`the console's ${name} answers ${status}`);
        if (round >= WARM) times.push(performance.now() - began);
      }
      const took = median(times);
      figures.push({
        what: `console: ${name}, beside ${size} pieces, ${DRAFTS} drafts, ${READERS} readers`,
        ours: millis(took),
        other: '',
        ratio: null,
        budget: `< ${BUDGET} ms`,
        holds: took < BUDGET,
      });
    }
    return figures;
  } finally {
    await desk.stop();
  }
}

/** Adds drafts and readers. Returns the id of the newest piece on air. */
function seed(folder: string, { texts: { texts } }: Bench, size: number): string {
  const app = openPaper(folder);
  try {
    const { store } = app;
    const desk = deskOf(app);
    app.signer.open();
    store.database.transact(() => {
      for (let n = 0; n < DRAFTS; n++) {
        const filing = pieceAt(texts, size + n);
        fileStory(desk, PAPER, { ...filing, slug: `draft-${n}` }, { by: 'cli' });
      }
      for (let n = 0; n < READERS; n++) confirmedReader(app, `reader-${n}@example.org`, {}, PAPER);
    });
    note(`${DRAFTS} drafts and ${READERS} readers are in`);
    return store.desk.archive(PAPER).latest({ limit: 1 })[0]?.id ?? '';
  } finally {
    app.close();
  }
}
