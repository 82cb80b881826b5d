import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../../src/shared/project.ts';
import { run } from './child.ts';
import { type Bench, environmentOf, PAPER } from './paper.ts';
import { piecesOf } from './pieces.ts';
import { aSecond, type Figure, median, note, seconds } from './table.ts';

const SIZE = Number(process.env.BENCH_IMPORT ?? 10_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
/**
 * At this size pieces have to be filed at this rate, 0.6 of what our own index segments reached (decision 040); a small
 * archive is mostly the start of the process.
 */
const [BUDGETED, LEAST] = [100_000, 1_200];

/** Filing an archive by the command, from its start to its end: each piece with receipt, leaf and index entry. */
export async function importPart(bench: Bench): Promise<Figure[]> {
  const archive = join(bench.folder, 'archive.jsonl');
  writeArchive(bench, archive);
  const rates: number[] = [];
  const times: number[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const folder = join(bench.folder, `import-${round}`);
    mkdirSync(folder);
    const args = ['import', archive, '--paper', PAPER, '--create', '--air', '--no-press', '--json'];
    const ran = await run(process.execPath, [join(PROJECT, 'bin/broadsheet.mjs'), ...args], {
      cwd: folder,
      env: environmentOf(folder),
    });
    const { filed } = JSON.parse(ran.stdout) as { filed: number };
    if (filed !== SIZE) throw new Error(`the import filed ${filed} of ${SIZE} pieces`);
    rates.push(SIZE / (ran.wall / 1_000));
    times.push(ran.cpu ?? Number.NaN);
    note(`import, round ${round}: ${aSecond(rates.at(-1) ?? 0)}, ${seconds(ran.wall)}`);
  }
  const rate = median(rates);
  return [
    {
      what: `pieces filed and put on air by import, of ${SIZE}; processor time`,
      ours: aSecond(rate),
      other: seconds(median(times)),
      ratio: null,
      budget: `≥ ${LEAST}/s`,
      holds: SIZE >= BUDGETED ? rate >= LEAST : null,
    },
  ];
}

/** The pieces as lines of JSON, written one by one: the largest archives fit into no string. */
function writeArchive({ texts, began }: Bench, path: string): void {
  const file = openSync(path, 'w');
  for (const { filing, at } of piecesOf(texts, SIZE, began)) {
    const { slug, headline, dek, category, language, prose, cited_facts } = filing;
    const published_at = new Date(at).toISOString();
    const line = { slug, headline, dek, section: category, lang: language, published_at, prose, cited_facts };
    writeSync(file, `${JSON.stringify(line)}\n`);
  }
  closeSync(file);
}
