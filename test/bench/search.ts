import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'libsql';
import { SEARCH_ROWS, searchTerms, searchText } from '../../src/desk/search.ts';
import { PROJECT } from '../../src/shared/project.ts';
import { run } from './child.ts';
import { randomFrom, type Text } from './invented.ts';
import { CALLERS, type Loaded, load, type Served, start } from './load.ts';
import { type Bench, environmentOf, filedPaper, openPaper, PAPER } from './paper.ts';
import { aSecond, type Figure, median, millis, note, seconds } from './table.ts';

const SIZES = (process.env.BENCH_SEARCH ?? '10000,100000').split(',').map(Number);
/** How many queries of each kind are asked. */
const ASKED = 400;
/** How often each door is asked for a while. */
const ROUNDS = 5;
/** The size that most budgets speak of; the most that the p99 of a search may be by size, in ms; and of other doors. */
const BOUND = 10_000;
const P99_MOST = new Map([
  [BOUND, 15],
  [100_000, 40],
]);
const OTHERS_MOST = 1.8;
const DOORS_SCRIPT = fileURLToPath(new URL('routes.ts', import.meta.url));
/** How long other doors are asked at a time, in ms. */
const DOORS_SPAN = 1_800;

/** Searches of every kind over papers of several sizes, alone and through HTTP; what they cost others, and the index. */
export async function searchPart(bench: Bench): Promise<Figure[]> {
  const kinds = queriesFrom(bench.texts.texts);
  const figures: Figure[] = [];
  for (const size of SIZES) {
    const folder = filedPaper(bench, size, `search-${size}`);
    if (size === BOUND) {
      figures.push({
        what: `indexing a piece, of ${size} indexed again`,
        ours: `${(indexAgain(folder) / size).toFixed(2)} ms`,
        other: '',
        ratio: null,
        budget: '',
        holds: null,
      });
    }
    askAlone(folder, size, kinds);
    const desk = await start(['desk'], environmentOf(folder));
    try {
      const next = questionsFrom(bench.texts.texts);
      figures.push(await newQuestions(desk, size, next));
      for (const callers of [CALLERS, 1]) figures.push(await otherDoors(desk, size, callers, next));
    } finally {
      await desk.stop();
    }
    rmSync(folder, { recursive: true });
  }
  return figures;
}

/** Notes what each kind of query takes in this thread. */
function askAlone(folder: string, size: number, kinds: Map<string, string[]>): void {
  const app = openPaper(folder);
  const began = performance.now();
  app.store.desk.optimizeSearch();
  note(`index of ${size} pieces optimized in ${seconds(performance.now() - began)}`);
  const archive = app.store.desk.archive(PAPER);
  for (const [kind, queries] of kinds) {
    let rows = 0;
    const times = queries.map((q) => {
      const start = performance.now();
      rows += archive.search(searchTerms(q), SEARCH_ROWS).length;
      return performance.now() - start;
    });
    const mean = (rows / queries.length).toFixed(1);
    note(`search ${size}: ${kind}: p50 ${at(times, 0.5)}, p99 ${at(times, 0.99)}, ${mean} rows`);
  }
  app.close();
}

/** Questions that nobody asked before, from callers who never pause. */
async function newQuestions({ url, pid }: Served, size: number, next: () => string): Promise<Figure> {
  const ask = () => load({ url, paths: [next()], next });
  await ask();
  const before = processorTime(pid);
  const loads: Loaded[] = [];
  for (let round = 0; round < ROUNDS; round++) loads.push(await ask());
  const each = (processorTime(pid) - before) / loads.reduce((sum, { count }) => sum + count, 0);
  const [rate, p50, p99] = (['rate', 'p50', 'p99'] as const).map((of) => median(loads.map((loaded) => loaded[of])));
  const most = P99_MOST.get(size) ?? null;
  return {
    what: `GET search, ${size} pieces, no question asked before, ${CALLERS} callers who never pause: a second; p50, p99; processor time a question`,
    ours: `${aSecond(rate ?? Number.NaN)}; ${millis(p50 ?? Number.NaN)}, ${millis(p99 ?? Number.NaN)}; ${each.toFixed(2)} ms`,
    other: '',
    ratio: null,
    budget: most === null ? '' : `p99 < ${most} ms`,
    holds: most === null ? null : (p99 ?? Number.NaN) < most,
  };
}

/** The doors that others ask while many search. */
const DOORS = ['stories', 'front', 'days', 'sections', 'masthead'];

/** How long other doors take with and without the load of `newQuestions`: the door that suffers most. */
async function otherDoors(desk: Served, size: number, callers: number, next: () => string): Promise<Figure> {
  const paths = DOORS.map((door) => `/${PAPER}/api/v1/${door}`);
  const searched: Loaded[] = [];
  const measured: Record<'without' | 'beside', number[][]> = { without: [], beside: [] };
  for (let round = 0; round <= ROUNDS; round++) {
    for (const kind of ['without', 'beside'] as const) {
      const args = [DOORS_SCRIPT, desk.url, `${callers}`, `${DOORS_SPAN}`, ...paths];
      const asked = run(process.execPath, args, { cwd: PROJECT });
      if (kind === 'beside') searched.push(await load({ url: desk.url, paths: [next()], next, mayRefuse: true }));
      const p99s: number[] = JSON.parse((await asked).stdout);
      // The first round warms.
      if (round > 0) measured[kind].push(p99s);
    }
  }
  const total = (of: 'count' | 'refused') => searched.reduce((sum, loaded) => sum + loaded[of], 0);
  note(`search ${size}: beside other doors ${total('count')} questions, ${total('refused')} of them refused`);
  const p99s = (kind: 'without' | 'beside') =>
    DOORS.map((_, door) => median(measured[kind].map((round) => round[door] ?? Number.NaN)));
  const [without, beside] = [p99s('without'), p99s('beside')];
  const ratios = beside.map((p99, door) => p99 / (without[door] ?? Number.NaN));
  const worst = ratios.indexOf(Math.max(...ratios));
  for (const [door, name] of DOORS.entries())
    note(
      `search ${size}: ${callers} at other doors: ${name}: p99 ${millis(beside[door] ?? Number.NaN)}, alone ${millis(without[door] ?? Number.NaN)}`,
    );
  const isBudget = size === BOUND && callers === CALLERS;
  return {
    what: `p99 of other doors, ${callers} caller${callers === 1 ? '' : 's'}, beside that search load : without it; the worst is ${DOORS[worst]}`,
    ours: millis(beside[worst] ?? Number.NaN),
    other: millis(without[worst] ?? Number.NaN),
    ratio: ratios[worst] ?? null,
    budget: isBudget ? `≤ ${OTHERS_MOST}` : '',
    holds: isBudget ? (ratios[worst] ?? Number.NaN) <= OTHERS_MOST : null,
  };
}

/** What a process has spent on the processors, all threads together, in ms, as Linux tells; NaN elsewhere. */
function processorTime(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return Number.NaN;
  }
}

/** Makes the paper's index once more, as after a change of the folding. Returns ms. */
function indexAgain(folder: string): number {
  const db = new Database(join(folder, 'var/broadsheet.db'));
  db.exec('UPDATE search_state SET folding = 0');
  db.close();
  const start = performance.now();
  openPaper(folder).close();
  return performance.now() - start;
}

/** Another question each time: two to four words of one piece, whole or their beginnings. */
function questionsFrom(texts: Text[]): () => string {
  const random = randomFrom(11);
  const below = (end: number): number => Math.floor(random() * end);
  const words = texts.map(({ headline, prose }) => searchText(`${headline} ${prose}`).split(' '));
  const asked = new Set<string>();
  return () => {
    for (;;) {
      const own = words[below(words.length)] ?? [];
      const terms = Array.from({ length: 2 + below(3) }, () => own[below(own.length)]?.slice(0, 2 + below(10)) ?? 'a');
      const question = terms.join(' ');
      if (asked.has(question)) continue;
      asked.add(question);
      return `/${PAPER}/api/v1/search?q=${encodeURIComponent(question)}`;
    }
  };
}

/** Queries of every kind, made of the words of the pieces. */
function queriesFrom(texts: Text[]): Map<string, string[]> {
  const random = randomFrom(7);
  const words = texts.map(({ headline, prose }) => searchText(`${headline} ${prose}`).split(' '));
  const pieces = new Map<string, number>();
  for (const own of words) for (const word of new Set(own)) pieces.set(word, (pieces.get(word) ?? 0) + 1);
  const byUse = [...pieces].filter(([word]) => /^\p{L}+$/u.test(word)).sort((a, b) => b[1] - a[1]);
  const common = byUse.slice(0, 60).map(([word]) => word);
  const rare = byUse.filter(([word, count]) => count <= 3 && word.length > 4).map(([word]) => word);
  const pick = <T>(list: T[]): T => list[Math.floor(random() * list.length)] as T;
  const some = (make: () => string): string[] => Array.from({ length: ASKED }, make);
  const word = (): string => pick(pick(words));
  return new Map([
    ['one letter', some(() => String.fromCharCode(97 + Math.floor(random() * 26)))],
    ['a word’s beginning', some(() => word().slice(0, 2 + Math.floor(random() * 4)))],
    ['a word', some(word)],
    ['a common word', some(() => pick(common))],
    ['a rare word', some(() => pick(rare))],
    ['two words', some(() => `${word()} ${word()}`)],
    ['four common words', some(() => [0, 1, 2, 3].map(() => pick(common)).join(' '))],
    ['four words of one piece', some(() => fourOf(pick(words), pick))],
    ['words that nothing holds', some(() => `${pick(common)} ${word()}zqx`)],
    ['two joined by a hyphen', some(() => joined(pick(words), random))],
    ['common words joined by hyphens', some(() => [0, 1, 2].map(() => pick(common)).join('-'))],
  ]);
}

function fourOf(own: string[], pick: <T>(list: T[]) => T): string {
  return [0, 1, 2, 3].map(() => pick(own).slice(0, 28)).join(' ');
}

function joined(own: string[], random: () => number): string {
  const first = Math.floor(random() * (own.length - 1));
  return own
    .slice(first, first + 2)
    .join('-')
    .slice(0, 120);
}

function quantile(times: number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function at(times: number[], share: number): string {
  return `${quantile(times, share).toFixed(2)} ms`;
}
