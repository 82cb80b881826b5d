import { statSync } from 'node:fs';
import { join } from 'node:path';
import { airStory } from '../../src/desk/airing.ts';
import { FACTS_PAGE } from '../../src/desk/dependencies.ts';
import { factHints } from '../../src/desk/fact-hints.ts';
import { citingPiece, factDocumentOf } from '../../src/desk/fact-rows.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { correctFact } from '../../src/desk/recording-facts.ts';
import { searchTerms } from '../../src/desk/search.ts';
import type { CitedFact } from '../../src/proof/basis.ts';
import { type AppContext, deskOf } from '../../src/server/context.ts';
import { type Bench, filedPaper, fullPress, openPaper, PAPER } from './paper.ts';
import { pieceAt } from './pieces.ts';
import { type Figure, median, millis, note, seconds } from './table.ts';

/** How many facts a piece cites, and how many pieces cite each fact. */
const EACH = 100;
const CITED_BY = 10;
/** How long a look-up may take, in ms. */
const BUDGET = 5;
const LOOKUPS = 300;
const CORRECTIONS = 5;
/** Outputs of a citing piece, and those that tell of the fact itself. */
const OUTPUTS_EACH = 2;
const OUTPUTS_BESIDE = 20;
/** A citing piece has its page and its Markdown; beside it are the fact, its lists, the corrections, the front and feeds. */
const FILES_EACH = 2;
const FILES_BESIDE = 12;
/** How many pieces are filed in a transaction. */
const BATCH = 20;

const WORDS = [
  'harbour',
  'ferry',
  'tonnage',
  'quay',
  'storm',
  'barge',
  'anchor',
  'lantern',
  'signal',
  'dredger',
  'keel',
];
const keyAt = (index: number): string => `fact-${index}`;
const word = (index: number): string => `${WORDS[index % WORDS.length]}`;

/** Facts and their citations: filing them, finding one, listing them, and correcting one that ten pages cite. */
export async function factsPart(bench: Bench): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const size of bench.sizes) {
    const folder = filedPaper(bench, 1, `facts-${size}`);
    const app = openPaper(folder);
    try {
      const beside = `beside ${size} facts, ${size * CITED_BY} citations`;
      figures.push(seed(app, bench, size), lookUps(app, size, beside), ...searches(app, size, beside));
      const { wall, cpu, peak } = await fullPress(folder);
      const took = `${seconds(cpu ?? wall)} of processor time, ${Math.round((peak ?? 0) / 1e6)} MB at its peak`;
      const pressed = `facts: a full press of ${size} facts and ${(size * CITED_BY) / EACH} pieces that cite ${EACH} each`;
      figures.push({ ...NOTHING, what: pressed, ours: took });
      figures.push(...(await corrections(app, size, beside)), ...lists(app, size));
    } finally {
      app.close();
    }
  }
  return figures;
}

const NOTHING: Figure = { what: '', ours: '', other: '', ratio: null, budget: '', holds: null };

/** Files pieces that cite the facts, each ten times: what a new fact takes of the processor, the first ones and the last. */
function seed(app: AppContext, { texts: { texts } }: Bench, size: number): Figure {
  app.signer.open();
  const desk = deskOf(app);
  const pieces = (size * CITED_BY) / EACH;
  const took: number[] = [];
  const began = process.cpuUsage();
  for (let first = 0; first < pieces; first += BATCH) {
    const start = process.cpuUsage();
    app.store.database.transact(() => {
      for (let piece = first; piece < Math.min(pieces, first + BATCH); piece++) {
        const cited_facts = Array.from({ length: EACH }, (_, at) => entry((piece * EACH + at) % size, at + 1));
        const prose = cited_facts.map(({ n }) => `It is so.[^${n}]`).join(' ');
        const slug = `cites-${piece}`;
        fileStory(desk, PAPER, { ...pieceAt(texts, piece), slug, cited_facts, prose, image: null }, { by: 'cli' });
        airStory(desk, PAPER, slug, { by: 'cli' });
      }
    });
    // The pieces that bring new facts come first.
    if ((first + BATCH) * EACH <= size) took.push(spent(start) / (BATCH * EACH));
  }
  note(`filed ${size} facts in ${seconds(spent(began))} of processor time`);
  const some = Math.max(1, Math.floor(took.length / 5));
  const [early, late] = [median(took.slice(0, some)), median(took.slice(-some))];
  return {
    what: `facts: filing a new fact, the last of ${size} beside the first`,
    ours: `${millis(late)} of processor time`,
    other: millis(early),
    ratio: late / early,
    budget: '< 2',
    holds: late / early < 2,
  };
}

/** The processor time of this process since a moment, in ms. */
function spent(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1_000;
}

function entry(index: number, n: number): CitedFact {
  const statement = `The ${word(index)} of berth ${index} carried ${index * 7} tonnes past the ${word(index + 3)} in 2025.`;
  const source = `Publisher ${index % 500}`;
  return { n, statement, source, instrument: `https://port.example/${index}`, claim_key: keyAt(index) };
}

function timed(count: number, work: (round: number) => void): number[] {
  return Array.from({ length: count }, (_, round) => {
    const began = performance.now();
    work(round);
    return performance.now() - began;
  }).slice(3);
}

function figure(what: string, times: number[], budget: number): Figure {
  const slow = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;
  const took = median(times);
  const ours = `${millis(took)}, p99 ${millis(slow)}`;
  return { what, ours, other: '', ratio: null, budget: `< ${budget} ms`, holds: took < budget };
}

/** A fact as `GET /api/v1/facts/{claim_key}` has it. */
function lookUps(app: AppContext, size: number, beside: string): Figure {
  const archive = app.store.desk.archive(PAPER);
  const times = timed(LOOKUPS, (round) => {
    const key = keyAt((round * 7919) % size);
    const fact = archive.fact(key);
    if (fact === null) throw new Error(`there is no ${key}`);
    factDocumentOf(archive, key);
    archive.citedBy(key, 'on_air', { limit: 101 }).map((row) => citingPiece(row, 'https://news.example', fact.version));
  });
  return figure(`facts: a look-up by key, ${beside}`, times, BUDGET);
}

function searches(app: AppContext, size: number, beside: string): Figure[] {
  const archive = app.store.desk.archive(PAPER);
  const found = timed(100, (round) => {
    archive.facts({ limit: 51, isCited: true, terms: searchTerms(`berth ${(round * 31) % size}`) });
  });
  const hints = timed(100, (round) => {
    factHints(archive, [{ ...entry((round * 131) % size, 1), claim_key: null, instrument: 'elsewhere' }]);
  });
  return [
    figure(`facts: a search for two words, ${beside}`, found, 50),
    figure(`facts: the near match of an entry without key, ${beside}`, hints, 20),
  ];
}

async function corrections(app: AppContext, size: number, beside: string): Promise<Figure[]> {
  // What a first press leaves to a later one.
  await pressPapers(app, { paper: PAPER, cards: false });
  const outputs: number[] = [];
  const files: number[] = [];
  const times: number[] = [];
  for (let round = 0; round < CORRECTIONS; round++) {
    const key = keyAt((round * 7919) % size);
    const began = process.cpuUsage();
    correctFact(deskOf(app), PAPER, key, { version: 1, statement: 'It was less.', note: 'A misprint.', by: 'cli' });
    const report = (await pressPapers(app, { paper: PAPER, cards: false })).get(PAPER);
    times.push(spent(began));
    outputs.push(report?.outputs ?? 0);
    files.push(report?.written ?? 0);
  }
  const most = CITED_BY * OUTPUTS_EACH + OUTPUTS_BESIDE;
  const mostFiles = CITED_BY * FILES_EACH + FILES_BESIDE;
  return [
    {
      ...{ what: `facts: outputs that a correction prints, of a fact in ${CITED_BY} pieces, ${beside}`, ...REST },
      ours: `${median(outputs)} outputs, ${millis(median(times))} of processor time`,
      budget: `≤ ${most} outputs`,
      holds: Math.max(...outputs) <= most && Math.min(...outputs) >= CITED_BY,
    },
    {
      ...{ what: `facts: files that it changes, ${beside}`, ...REST },
      ours: `${median(files)} files`,
      budget: `${CITED_BY * FILES_EACH} and at most ${FILES_BESIDE} beside`,
      holds: Math.max(...files) <= mostFiles && Math.min(...files) >= CITED_BY * FILES_EACH,
    },
  ];
}

const REST = { other: '', ratio: null };

/** The pages that list facts and publishers: however many there are, they stay as long as a page. */
function lists({ settings: { distDir } }: AppContext, size: number): Figure[] {
  const pages = ['facts/index.html', `facts/all/${Math.ceil(size / FACTS_PAGE / 2)}/index.html`, 'sources/index.html'];
  const most = Math.max(...pages.map((page) => statSync(join(distDir, PAPER, page)).size));
  const ours = `${Math.round(most / 1_000)} kB at most`;
  const what = `facts: the lists of ${size} facts and of their publishers, a page`;
  return [{ what, ours, ...REST, budget: '< 300 kB', holds: most < 300_000 }];
}
