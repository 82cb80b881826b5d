import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { importLedger } from '../../src/desk/ingest/ledger-import.ts';
import { intakeOf, openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { Fault } from '../../src/shared/fault.ts';
import { appContextIn, createPaper, envIn, tempFolder, treeOf } from '../support/app-context.ts';
import { writeStory } from '../support/papers.ts';
import { copyContent, copyDemo, run } from '../support/program.ts';
import { ONLY_WIDE } from '../support/wide.ts';

/** Runs a verb that must succeed. */
async function sure(t: TestContext, folder: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(t, folder, args);
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}${stdout}`);
  return stdout;
}

const desk = tempFolder({ after });
let filed: Promise<void> | null = null;

/**
 * The folder of a desk that has filed, revised, corrected, scheduled, withdrawn and changed its key: one for all who
 * only read of it.
 */
async function livelyDesk(t: TestContext): Promise<string> {
  filed ??= (async () => {
    copyDemo(desk);
    writeStory(desk, 'later', { air: '2999-01-01T00:00:00Z' });
    await sure(t, desk, 'file');
    await sure(t, desk, 'withdraw', 'year-2038', '--paper', 'the-plumb-line', '--reason', 'It was wrong.');
    await sure(t, desk, 'withdraw', 'im-a-teapot', '--paper', 'the-plumb-line', '--reason', 'It was wrong too.');
    await sure(t, desk, 'air', 'im-a-teapot', '--paper', 'the-plumb-line');
    await sure(t, desk, 'key', 'rotate');
    writeStory(desk, 'later', { air: '2999-01-01T00:00:00Z', headline: 'Another headline' });
    const metre = join(desk, 'content/the-plumb-line/stories/metre-of-light.md');
    writeFileSync(
      metre,
      readFileSync(metre, 'utf8').replace('\n---\n', '\ncorrection: It said otherwise.\n---\nA word more. '),
    );
    await sure(t, desk, 'file');
  })();
  await filed;
  return desk;
}

test('an export, imported elsewhere, gives the same export and the same tree, byte for byte', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = await livelyDesk(t);
  const file = join(folder, 'ledger.jsonl');
  await sure(t, folder, 'ledger', 'export', file);
  const text = readFileSync(file, 'utf8');
  const { seed } = JSON.parse(readFileSync(join(folder, 'var/door.key'), 'utf8')) as { seed: string };
  assert.equal(text.includes(seed), false);

  const other = tempFolder(t);
  await sure(t, other, 'ledger', 'import', file);
  const again = join(other, 'ledger.jsonl');
  await sure(t, other, 'ledger', 'export', again);
  // The key of the log is in the export of the machine that signs it, and the last line has the digest of the others.
  const ofEverybody = (lines: string) =>
    lines.replace(/^\{"type":"log-key".*\n/m, '').replace(/,"sha256":"\w+"\}\n$/, '');
  assert.equal(ofEverybody(readFileSync(again, 'utf8')), ofEverybody(text));

  const [tree, copy] = [treeOf(join(folder, 'papers')), treeOf(join(other, 'papers'))];
  assert.deepEqual([...copy.keys()].sort(), [...tree.keys()].sort());
  for (const [path, bytes] of tree) assert(copy.get(path) === bytes, `${path} differs`);
  await sure(t, other, 'audit');
  await sure(t, other, 'verify', join(other, 'papers/the-plumb-line'));
  assert.equal(existsSync(join(other, 'var/door.key')), false, 'an import needs no key and makes none');

  const twice = await run(t, other, ['ledger', 'import', file]);
  assert.match(twice.stderr, /^broadsheet: the database is not empty; import into a new DATA_DIR\n$/);
  assert.equal(twice.code, 1);
});

test('an import signs on with a key of its own, and the chain goes on', { skip: ONLY_WIDE }, async (t) => {
  const folder = await livelyDesk(t);
  const file = join(folder, 'ledger.jsonl');
  await sure(t, folder, 'ledger', 'export', file);
  const other = tempFolder(t);
  await sure(t, other, 'ledger', 'import', file, '--no-press');
  copyContent(other);
  const story = writeStory(other, 'later', { air: '2999-01-01T00:00:00Z', headline: 'A third headline' });
  await sure(t, other, 'file', '--no-press', story);
  const { faults } = JSON.parse((await run(t, other, ['audit', '--json'])).stdout) as { faults: string[] };
  assert.deepEqual(
    faults.filter((fault) => !/waits? for the press/.test(fault)),
    [],
  );
});

test('a damaged export is refused with its line, and nothing is entered', async (t) => {
  const folder = await livelyDesk(t);
  const file = join(folder, 'ledger.jsonl');
  await sure(t, folder, 'ledger', 'export', file);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const at = (type: string, more = ''): number =>
    lines.findIndex((line) => line.startsWith(`{"type":"${type}"`) && line.includes(more));
  const change = (n: number, from: string | RegExp, to: string): string[] => {
    const changed = lines.with(n, (lines[n] ?? '').replace(from, to));
    assert.notDeepEqual(changed, lines);
    return changed;
  };
  const flip = (n: number, path: string, bit: number): string[] => {
    const bytes = Buffer.from(lines[n] ?? '');
    const offset = bytes.indexOf(path) + path.length + 9;
    bytes[offset] = (bytes[offset] ?? 0) ^ bit;
    return lines.with(n, bytes.toString());
  };
  const generation = at('generation');
  const cases: [what: string, damaged: string[], said: RegExp][] = [
    [
      'a bit of the prose',
      flip(generation, '"prose":"', 1),
      /:\d+: .*content_hash is not the hash of what is stored; nothing was imported/,
    ],
    [
      'a bit of a receipt',
      flip(generation, '"receipt":"', 1),
      /:\d+: .*the receipt is not a newsdesk-receipt\/v1 note/,
    ],
    ['a bit of a signature', change(generation, /(— \S+ \S{30})./, '$1.'), /:\d+: .*receipt/],
    [
      'the name of a member',
      change(generation, '"piece":', '"qiece":'),
      new RegExp(`:${generation + 1}: .*; nothing was imported`),
    ],
    [
      'a key',
      change(at('key'), /"public_key":"../, '"public_key":"AA'),
      /:\d+: key \S+: the kid is not the thumbprint of its public key/,
    ],
    ['a media file', flip(at('media-part'), '"base64":"', 1), /:\d+: the media file sha256:\S+ is damaged/],
    [
      'a time on air',
      change(at('airing'), /"on_air_at":\d/, '"on_air_at":2'),
      /:\d+: lines before this one were lost, added or changed/,
    ],
    [
      'a paper’s record',
      change(at('record', '"kind":"paper"'), '"hue":2', '"hue":3'),
      /:\d+: lines before this one were lost, added or changed/,
    ],
    [
      'a paper’s record that is none',
      change(at('record', '"kind":"paper"'), '"hue":2', '"hue":-2'),
      /:\d+: .*; nothing was imported/,
    ],
    ['a generation left out', lines.toSpliced(generation, 1), /:\d+: .*; nothing was imported/],
    [
      'a withdrawal left out',
      lines.toSpliced(at('withdrawal'), 1),
      /lines before this one were lost, added or changed: it counts \d+ entr(?:y|ies), the file has \d+/,
    ],
    [
      'two lines exchanged',
      lines.with(at('airing'), lines[generation] ?? '').with(generation, lines[at('airing')] ?? ''),
      /:\d+: .*; nothing was imported/,
    ],
    ['the last line left out', lines.slice(0, -1), /the last line is missing: the file is cut short/],
    ['the second half left out', lines.slice(0, lines.length / 2), /the last line is missing: the file is cut short/],
    ['a line cut short', [...lines.slice(0, -9), (lines.at(-9) ?? '').slice(0, 40)], /the line is not a ledger entry/],
    ['a line more', [...lines, lines[at('airing')] ?? ''], /there is text after the last line/],
    ['the first line left out', lines.slice(1), /:1: this is not a ledger export of version 1, 2, 3, 4 or 5/],
    [
      'another version',
      change(0, '"version":5', '"version":6'),
      /:1: this is not a ledger export of version 1, 2, 3, 4 or 5/,
    ],
    ['a line that is no JSON', lines.with(4, 'hello'), /:5: the line is not a ledger entry/],
    ['an empty file', [], /the last line is missing: the file is cut short/],
  ];
  for (const [n, [what, damaged, said]] of cases.entries()) {
    // Each is an import: on a push every third.
    await t.test(what, { skip: n % 3 > 0 && ONLY_WIDE }, async (t) => {
      const other = tempFolder(t);
      const copy = join(other, 'copy.jsonl');
      writeFileSync(copy, damaged.map((line) => `${line}\n`).join(''));
      const app = appContextIn(t, other, { now: Date.now() });
      await assert.rejects(
        importLedger(intakeOf(app), copy),
        (error) => error instanceof Fault && said.test(error.message) && !error.message.includes('\n'),
      );
      assert.deepEqual([...app.store.desk.entries()], []);
      assert.deepEqual(app.store.desk.paperSlugs(), []);
    });
  }
  const copy = join(folder, 'copy.jsonl');
  writeFileSync(copy, `${lines.slice(0, -1).join('\n')}\n`);
  const { code, stderr } = await run(t, tempFolder(t), ['ledger', 'import', copy, '--no-press']);
  assert.match(
    stderr,
    /^broadsheet: \S+copy\.jsonl:\d+: the last line is missing: the file is cut short; nothing was imported: .*\n$/,
  );
  assert.equal(code, 1);
});

test('an export that cannot be written is one line, and leaves nothing', async (t) => {
  const folder = tempFolder(t);
  openAppContext(readSettings(envIn(folder))).close();
  const { code, stderr } = await run(t, folder, ['ledger', 'export', join(folder, 'none/ledger.jsonl')]);
  assert.match(
    stderr,
    /^broadsheet: \S+ledger\.jsonl cannot be written \(ENOENT.*\); name a file in a folder that you may write to\n$/,
  );
  assert.equal(code, 1);
  const missing = await run(t, folder, ['ledger', 'import', join(folder, 'none.jsonl')]);
  assert.match(missing.stderr, /^broadsheet: \S+none\.jsonl does not exist; name a file of `ledger export`\n$/);
});

test('only the owner can read the signing key file', (t) => {
  const folder = tempFolder(t);
  createPaper(appContextIn(t, folder, { now: Date.now() }));
  assert.equal(statSync(join(folder, 'var/door.key')).mode & 0o777, 0o600);
  assert.equal(statSync(join(folder, 'var/broadsheet.db')).mode & 0o777, 0o600);
  assert.equal(statSync(join(folder, 'var')).mode & 0o777, 0o700);
});
