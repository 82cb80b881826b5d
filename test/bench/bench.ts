import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isBuilt } from '../../src/desk/press/build.ts';
import { PROJECT } from '../../src/shared/project.ts';
import { apiPart } from './api.ts';
import { archivePart } from './archive.ts';
import { bucketPart } from './bucket.ts';
import { cardsPart } from './cards.ts';
import { run } from './child.ts';
import { consolePart } from './console.ts';
import { devPart } from './dev.ts';
import { dnsPart } from './dns.ts';
import { factsPart } from './facts.ts';
import { growthPart } from './growth.ts';
import { importPart } from './import.ts';
import { limitsPart } from './limits.ts';
import { logPart } from './log.ts';
import { mailsPart } from './mails.ts';
import { memoryPart } from './memory.ts';
import { meterPart } from './meter.ts';
import { paidPart } from './paid.ts';
import { type Bench, environmentOf } from './paper.ts';
import { loadTexts } from './pieces.ts';
import { pressPart } from './press.ts';
import { publishPart } from './publish.ts';
import { recordsPart } from './records.ts';
import { scanPart } from './scan.ts';
import { scannerPart } from './scanner.ts';
import { searchPart } from './search.ts';
import { startPart } from './start.ts';
import { type Figure, machine, note, printTable } from './table.ts';
import { takeoverPart } from './takeover.ts';
import { valuesPart } from './values.ts';
import { verifyPart } from './verify.ts';
import { waitsPart } from './waits.ts';
import { webhooksPart } from './webhooks.ts';

const PARTS: Record<string, (bench: Bench) => Promise<Figure[]>> = {
  press: pressPart,
  import: importPart,
  cards: cardsPart,
  verify: verifyPart,
  limits: limitsPart,
  log: logPart,
  memory: memoryPart,
  start: startPart,
  growth: growthPart,
  publish: publishPart,
  bucket: bucketPart,
  takeover: takeoverPart,
  api: apiPart,
  console: consolePart,
  search: searchPart,
  facts: factsPart,
  mails: mailsPart,
  dns: dnsPart,
  archive: archivePart,
  scan: scanPart,
  scanner: scannerPart,
  meter: meterPart,
  records: recordsPart,
  values: valuesPart,
  paid: paidPart,
  webhooks: webhooksPart,
  waits: waitsPart,
  dev: devPart,
};

const SIZES = (process.env.BENCH_SIZES ?? '1000,10000,100000').split(',').map(Number);
const given = process.argv.slice(2);
const unknown = given.filter((name) => !(name in PARTS));
if (unknown.length > 0) {
  process.stderr.write(`bench: there is no part ${unknown.join(', ')}; there are ${Object.keys(PARTS).join(', ')}\n`);
  process.exit(2);
}
const names = given.length > 0 ? given : Object.keys(PARTS);
const facts = machine();
const made: string[] = [];
const makeFolder = (parent: string): string => {
  const folder = mkdtempSync(join(parent, 'broadsheet-bench-'));
  made.push(folder);
  return folder;
};
const folder = makeFolder(tmpdir());
const clear = () => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
};
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    clear();
    process.exit(130);
  });
}
try {
  if (!isBuilt()) {
    note('the pages are not those of the code: building them');
    const astro = join(PROJECT, 'node_modules/astro/bin/astro.mjs');
    await run(process.execPath, [astro, 'build'], { cwd: PROJECT, env: environmentOf(join(folder, 'build')) });
  }
  const texts = await loadTexts();
  note(texts.from);
  const bench: Bench = { folder, texts, began: Date.now(), sizes: SIZES, makeFolder };
  const figures: Figure[] = [];
  for (const name of names) {
    note(`part: ${name}`);
    figures.push(...((await PARTS[name]?.(bench)) ?? []));
  }
  process.stdout.write(`${facts}\npieces: ${texts.from}\n\n`);
  printTable(figures);
} finally {
  clear();
}
