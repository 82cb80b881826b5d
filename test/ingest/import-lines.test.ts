import assert from 'node:assert/strict';
import { createWriteStream, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { test } from 'node:test';
import { createGzip, gzipSync } from 'node:zlib';
import { importArchive } from '../../src/desk/ingest/import-archive.ts';
import { parsedBatches, sectionsIn } from '../../src/desk/ingest/import-lines.ts';
import { intakeOf } from '../../src/server/context.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { START } from '../support/pressed-paper.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const all = async <T>(batches: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = [];
  for await (const batch of batches) found.push(batch);
  return found;
};

/** A sound line, without its section. */
const PIECE = JSON.stringify({
  headline: 'Tide',
  published_at: '2019-05-20T00:00:00Z',
  prose: 'One.[^1]\n\nTwo.[^2]',
  cited_facts: [
    { statement: 'One.', source: 'NIST', instrument: 'FIPS 180-4' },
    { statement: 'Two.', source: 'IETF', instrument: 'RFC 2119' },
  ],
});

/** Lines of a file of several batches, some of them blank or wrong. */
function archiveIn(folder: string): string {
  const file = join(folder, 'archive.jsonl');
  const lines = Array.from({ length: 330 }, (_, n) => {
    if (n % 100 === 50) return '';
    if (n % 100 === 60) return '{"slug": ';
    if (n % 100 === 70) return JSON.stringify({ slug: `half-${n}` });
    return JSON.stringify({
      slug: `piece-${n}`,
      headline: `About ${n}`,
      section: 'Sea',
      published_at: '2019-05-20T00:00:00Z',
      prose: `One’s \u0041\u030a tide.[^1]\r\n\r\nTwo.[^2] ${n % 100 === 80 ? '<b>' : ''} ${'Ebb and flow. '.repeat(60)}`,
      cited_facts: [
        { statement: 'One.', source: 'NIST', instrument: 'FIPS 180-4' },
        { statement: 'Two.', source: 'IETF', instrument: 'RFC 2119' },
      ],
    });
  });
  writeFileSync(file, lines.join('\n'));
  assert.ok(statSync(file).size > 200_000);
  return file;
}

test('lines are read in batches, and are filed by their numbers', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  const file = archiveIn(folder);
  const lines = await all(parsedBatches(file));
  assert.deepEqual(
    lines.map(({ length }) => length),
    [100, 100, 100, 30],
  );
  const app = appContextIn(t, folder, { now: START });
  const { filed, refused } = await importArchive(intakeOf(app), file, { paper: 'quay', create: true, air: true });
  assert.deepEqual(
    refused.map(({ line, problems }) => `${line} ${problems[0]?.field}`),
    ['61', '71', '81', '161', '171', '181', '261', '271', '281'].map(
      (line) => `${line} ${{ 6: 'line', 7: 'headline', 8: 'prose' }[line.at(-2) ?? '']}`,
    ),
  );
  assert.equal(filed, 330 - 3 - refused.length);
  assert.deepEqual(
    app.store.desk.indexFaults(() => {}),
    [],
  );
  assert.equal(app.store.desk.archive('quay').search(['tide'], 1_000).length, filed);
});

test('sections are found however they are written', async (t) => {
  const file = join(tempFolder(t), 'archive.jsonl');
  const lines = [
    '{"section": "Sea"}',
    '{"section": "Sea", "headline": "section"}',
    '{"section": "Sea", "section": "Port"}',
    '{"section": "Sea", "\\u0073ection": "City"}',
    '{"section": "A\\"B"}',
    '{"section": "A\\"C"}',
    '{"authors": [{"section": "Nobody"}]}',
    '{"prose": "\\"section\\": \\"Nobody\\"", "section" :"Sea"}',
    '{"section": 5, "kind": "Sea"}',
    '{"section": "Cut"',
    '{"section": " Sea "}',
    '{"section": " Sky "}',
  ];
  writeFileSync(file, lines.join('\n'));
  assert.deepEqual(await sectionsIn(file), ['A"B', 'A"C', 'City', 'Port', 'Sea', 'Sky']);
});

test('a file that is damaged is said to be', async (t) => {
  const file = join(tempFolder(t), 'cut.jsonl.gz');
  const noise = Array.from({ length: 20_000 }, (_, n) => String(Math.sin(n))).join('\n');
  writeFileSync(file, gzipSync(noise).subarray(0, -500));
  assert.ok(statSync(file).size > 100_000);
  await assert.rejects(all(parsedBatches(file)), /cut\.jsonl\.gz cannot be read \(unexpected end of file\)/);
});

test('a line that is longer than any piece is rejected by its number, and the next one is read', async (t) => {
  const file = join(tempFolder(t), 'archive.jsonl');
  writeFileSync(file, `${JSON.stringify({ slug: 'x'.repeat(16_000_000) })}\n{"slug": "half"}\n`);
  const [long, half] = (await all(parsedBatches(file))).flat();
  assert.deepEqual(long, {
    problems: [
      {
        field: 'line',
        rule: 'invalid_request',
        message: 'the line has more than 16000000 bytes; put each piece on a line of its own',
      },
    ],
    rest: null,
  });
  assert.ok(half && 'problems' in half);
});

test('a line with thousands of entries in a list is rejected or filed without trying them all', async (t) => {
  const folder = tempFolder(t);
  const file = join(folder, 'archive.jsonl');
  const piece = (slug: string, more: object) =>
    JSON.stringify({ ...JSON.parse(PIECE), slug, ...more, section: slug === 'first' ? 'Only here' : 'Sea' });
  const many = (length: number, of: unknown) => Array.from({ length }, () => of);
  const lines = [
    // With a byte order mark, as some programs write files.
    `\ufeff${piece('first', {})}`,
    piece('authors', { authors: many(10_000, 'A') }),
    piece('facts', { cited_facts: many(10_001, {}) }),
    piece('tags', { tags: many(10_001, 'tide') }),
  ];
  writeFileSync(file, lines.join('\r\n'));
  const app = appContextIn(t, folder, { now: START });
  const { filed, refused } = await importArchive(intakeOf(app), file, { paper: 'quay', create: true });
  assert.deepEqual(
    refused.map(({ line, problems }) => [line, problems.length, problems[0]?.field]),
    [
      [2, 1, 'credit'],
      [3, 1, 'cited_facts'],
      [4, 1, 'tags'],
    ],
  );
  assert.equal(filed, 1);
});

test('a file without an end of line does not fill the memory', { skip: ONLY_WIDE }, async (t) => {
  const file = join(tempFolder(t), 'zeros.jsonl.gz');
  const zeros = Readable.from(
    (function* () {
      for (let n = 0; n < 200; n++) yield Buffer.alloc(1e6, '0');
    })(),
  );
  await pipeline(zeros, createGzip({ level: 1 }), createWriteStream(file));
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().arrayBuffers)), 1);
  assert.match(JSON.stringify(await all(parsedBatches(file))), /the line has more than 16000000 bytes/);
  clearInterval(watch);
  assert.ok(most - before < 120e6, `${most - before} bytes`);
});
