import { rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { SEARCH_ROWS, searchTerms, searchText } from '../../src/desk/search.ts';
import type { Text } from './invented.ts';
import { randomFrom } from './invented.ts';
import type { Bench } from './paper.ts';
import { filedPaper, openPaper, PAPER } from './paper.ts';
import type { Figure } from './table.ts';
import { millis, note, seconds } from './table.ts';

const SIZES = (process.env.BENCH_SEARCH ?? '10000,100000').split(',').map(Number);
/** How many queries of each kind are asked. */
const ASKED = 400;
const CALLERS = 32;
/** Asked alone, and not in the mix of many callers: no reader writes so. */
const HOSTILE = 'common words joined by hyphens';
/** The size that the budget speaks of, and the budget in ms. */
const BOUND = 10_000;
const MOST = 15;

/** Searches of every kind over papers of several sizes, alone and from many callers at once; and what the index costs. */
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
    const app = openPaper(folder);
    const start = performance.now();
    app.store.optimizeSearch();
    note(`index of ${size} pieces settled in ${seconds(performance.now() - start)}`);
    const archive = app.store.archive(PAPER);
    const ask = (q: string): number => archive.search(searchTerms(q), SEARCH_ROWS).length;
    for (const [kind, queries] of kinds) {
      let rows = 0;
      const times = queries.map((q) => {
        const start = performance.now();
        rows += ask(q);
        return performance.now() - start;
      });
      const mean = (rows / queries.length).toFixed(1);
      note(`search ${size}: ${kind}: p50 ${at(times, 0.5)}, p99 ${at(times, 0.99)}, ${mean} rows`);
    }
    const times = await manyCallers(
      [...kinds].filter(([kind]) => kind !== HOSTILE).map(([, queries]) => queries),
      ask,
    );
    const p99 = quantile(times, 0.99);
    figures.push({
      what: `search over ${size} pieces, ${CALLERS} callers, no HTTP: p99 (other: p50)`,
      ours: millis(p99),
      other: at(times, 0.5),
      ratio: null,
      budget: size === BOUND ? `< ${MOST} ms` : '',
      holds: size === BOUND ? p99 < MOST : null,
    });
    app.close();
    rmSync(folder, { recursive: true });
  }
  return figures;
}

/** Callers who each ask again as soon as they are answered; how long every one of them waited, in ms. */
async function manyCallers(kinds: string[][], ask: (q: string) => number): Promise<number[]> {
  const times: number[] = [];
  const queries = Array.from({ length: ASKED }, (_, n) => kinds.map((queries) => queries[n] ?? '')).flat();
  const caller = async (): Promise<void> => {
    for (let q = queries.pop(); q !== undefined; q = queries.pop()) {
      const start = performance.now();
      await new Promise((resolve) => setImmediate(resolve));
      ask(q);
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return times;
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
    [HOSTILE, some(() => [0, 1, 2].map(() => pick(common)).join('-'))],
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
