import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { withdrawStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { exportLedger } from '../../src/desk/ingest/ledger-export.ts';
import { importLedger } from '../../src/desk/ingest/ledger-import.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { receiptHashLeaf } from '../../src/proof/log/logged-entries.ts';
import { type AppContext, deskOf, intakeOf } from '../../src/server/context.ts';
import { Fault } from '../../src/shared/fault.ts';
import { fillLogs } from '../../src/signing/log/log-fill.ts';
import { appContextIn, filing, PAPER, tempFolder, treeOf } from '../support/app-context.ts';
import { cosignAll } from '../support/cosign-all.ts';
import { assertSameTree } from '../support/full-press.ts';
import { ed25519Witness } from '../support/log.ts';
import { LogHeads } from '../support/log-heads.ts';
import { paperOf, publish, START } from '../support/pressed-paper.ts';
import { ONLY_WIDE } from '../support/wide.ts';

/** A desk with two cosigned heads, one that is not, and a leaf that no head covers. */
const { app: desk, folder, clock } = await paperOf({ after }, 3);
cosignAll(desk);
publish(desk, 'late', START);
fileStory(deskOf(desk), PAPER, filing('draft'), { by: 'cli' });
withdrawStory(deskOf(desk), PAPER, 'piece-1', { by: 'cli', reason: 'It was wrong.' });
cosignAll(desk);
publish(desk, 'later', START);
const heads = new LogHeads(desk.store.database.log, 'desk');
heads.sign();
publish(desk, 'latest', START);
const file = join(folder, 'ledger.jsonl');
await exportLedger(intakeOf(desk), file, heads.vkey);
const lines = readFileSync(file, 'utf8').trimEnd().split('\n');

/** Writes lines to a file with the last line that fits them. */
function written(t: TestContext, changed: string[]): string {
  const copy = join(tempFolder(t), 'copy.jsonl');
  const text = changed.slice(0, -1).join('\n').concat('\n');
  const end = { ...JSON.parse(lines.at(-1) ?? ''), sha256: createHash('sha256').update(text).digest('hex') };
  writeFileSync(copy, `${text}${JSON.stringify(end)}\n`);
  return copy;
}

const logOf = ({
  store: {
    database: { log },
  },
}: AppContext) => ({
  entries: log.entries('desk', 0, log.size('desk')),
  heads: [...log.heads('desk')],
  cosignatures: [...log.heads('desk')].flatMap(({ origin, size }) => log.cosignatures('desk', origin, size)),
});

test('an import has the same log, and its press gives the same proofs', { skip: ONLY_WIDE }, async (t) => {
  const other = appContextIn(t, tempFolder(t), clock);
  await importLedger(intakeOf(other), file);
  assert.deepEqual(logOf(other), logOf(desk));
  assert(other.store.database.log.isFilled('desk'));
  assert(!other.store.database.log.isFilled('records'), 'its keys are logged by whoever signs');
  const again = join(folder, 'again.jsonl');
  await exportLedger(intakeOf(other), again, heads.vkey);
  assert.equal(readFileSync(again, 'utf8'), readFileSync(file, 'utf8'));

  for (const app of [desk, other]) await pressPapers(app, { full: true, cards: false });
  const tree = ({ settings }: AppContext) => treeOf(join(settings.distDir, PAPER));
  assertSameTree(tree(other), tree(desk));
  const { log } = JSON.parse(tree(other).get('stories/late/proof.json') ?? '') as { log: { index: number } | null };
  assert.notEqual(log, null);

  fillLogs(other.store);
  assert.deepEqual(logOf(other), logOf(desk), 'the log of the desk has its past');
  withdrawStory(deskOf(other), PAPER, 'late', { by: 'cli', reason: 'It was wrong.' });
  assert.equal(other.store.database.log.size('desk'), desk.store.database.log.size('desk') + 1, 'and goes on');
});

test('an export of version 1 is imported, and the next signer logs its past', async (t) => {
  const isOfLog = (line: string): boolean => /^\{"type":"(?:log-key|leaf|head|cosignature)"/.test(line);
  const old = lines.filter((line) => !isOfLog(line)).with(0, '{"type":"ledger","version":1}');
  const other = appContextIn(t, tempFolder(t), clock);
  await importLedger(intakeOf(other), written(t, old));
  assert.equal(other.store.database.log.size('desk'), 0);
  fillLogs(other.store);
  const notes = [...desk.store.desk.entries()].filter(({ type }) => type === 'generation').length;
  assert.equal(other.store.database.log.size('desk'), notes + desk.store.desk.signingKeys().length);
});

test('a log that is not of the ledger is refused with its line, and nothing is imported', async (t) => {
  const at = (type: string, more = '', skip = 0): number => {
    const found = lines.flatMap((line, n) => (line.startsWith(`{"type":"${type}"`) && line.includes(more) ? [n] : []));
    return found[skip] ?? assert.fail(`there is no ${type} ${more}`);
  };
  const change = (n: number, more: object): string[] =>
    lines.with(n, JSON.stringify({ ...(JSON.parse(lines[n] ?? '') as object), ...more }));
  const swapped = (a: number, b: number): string[] => lines.with(a, lines[b] ?? '').with(b, lines[a] ?? '');
  const receipt = at('leaf', '"newsdesk-receipt/v1');
  const cosigned = at('head', '"cosigned":"');
  const head = JSON.parse(lines[cosigned] ?? '') as { size: number; checkpoint: string; cosigned: string };
  const stranger = ed25519Witness('witness.example/w1', 6);
  const end = lines.length - 1;
  const cases: [what: string, damaged: string[], said: RegExp, line: number][] = [
    ['a leaf of no kind', change(receipt, { entry: 'hello\n' }), /begins with "hello"/, receipt],
    ['a leaf left out', lines.toSpliced(receipt, 1), /is not that of the leaves|has no leaf/, cosigned - 1],
    ['two leaves exchanged', swapped(receipt, receipt + 2), /is not that of the leaves/, cosigned],
    ['a leaf twice', lines.toSpliced(receipt, 0, lines[receipt] ?? ''), /the log has this leaf already/, receipt + 1],
    [
      'a hash of nothing',
      lines.toSpliced(at('head') - 1, 0, JSON.stringify({ type: 'leaf', log: 'desk', entry: receiptHashLeaf('x') })),
      /1 leaves are hashes of receipts that the ledger does not have/,
      end + 1,
    ],
    [
      'a key that is not of the ledger',
      change(at('leaf', '"key/v1'), {
        entry: JSON.parse(lines[at('leaf', '"key/v1')] ?? '').entry.replace('x ', 'x A'),
      }),
      /has not its form|does not say of key/,
      at('leaf', '"key/v1'),
    ],
    [
      'a withdrawal of an unknown piece',
      change(at('leaf', '"withdrawal/v1'), {
        entry: (JSON.parse(lines[at('leaf', '"withdrawal/v1')] ?? '') as { entry: string }).entry.replace(
          /^piece .*$/m,
          'piece nobody',
        ),
      }),
      /the leaf is of piece nobody/,
      at('leaf', '"withdrawal/v1'),
    ],
    ['a head without its leaves', change(cosigned, { size: 10_000 }), /but its checkpoint says/, cosigned],
    ['another origin', change(cosigned, { origin: 'other.example/log' }), /it says other\.example\/log/, cosigned],
    [
      'a head that the log did not sign',
      change(cosigned, {
        checkpoint: head.checkpoint.replace(
          /(— \S+ \S{12})(.)/,
          (_, before, char) => before + (char === 'A' ? 'B' : 'A'),
        ),
      }),
      /wrong signature|has not signed|not a signed note/,
      cosigned,
    ],
    ['the key of another log', change(at('log-key'), { vkey: stranger.vkey }), /must be of type/, at('log-key')],
    ['heads in another order', swapped(cosigned, at('head', '', 2)), /wrong signature/, cosigned + 1],
    ['a cosignature left out', lines.toSpliced(cosigned + 1, 1), /cosignature that is not in the file/, cosigned + 1],
    [
      'a cosignature by another key of that name',
      change(cosigned + 1, { vkey: stranger.vkey }),
      /has not signed the checkpoint/,
      cosigned + 1,
    ],
    ['a cosignature of another time', change(cosigned + 1, { time: 1 }), /it says time 1/, cosigned + 1],
    ...['{ "type":"cosignature"', '{"type":"leaf","type":"cosignature"', '{"type":"\\u0063osignature"'].map(
      (start): [string, string[], RegExp, number] => [
        `a cosignature of another time, as ${start}`,
        change(cosigned + 1, { time: 1 }).map((line) => line.replace('{"type":"cosignature"', start)),
        /it says time 1/,
        cosigned + 1,
      ],
    ),
    [
      'a cosigned text of another checkpoint',
      change(cosigned, { cosigned: `x${head.cosigned}` }),
      /what was cosigned is not this checkpoint/,
      cosigned,
    ],
    ['an unknown member', change(cosigned, { note: 'x' }), /note: there is no field of this name/, cosigned],
    ['a log of another service', change(receipt, { log: 'records' }), /log: .*must be "desk"/, receipt],
    ['another version', lines.with(0, '{"type":"ledger","version":6}'), /not a ledger export/, 0],
  ];
  for (const [what, damaged, said, line] of cases) {
    await t.test(what, async (t) => {
      const copy = written(t, damaged);
      const app = appContextIn(t, tempFolder(t), clock);
      await assert.rejects(importLedger(intakeOf(app), copy), (error) => {
        assert(error instanceof Fault);
        assert.match(error.message, said);
        assert(error.message.startsWith(`${copy}:${line + 1}: `), error.message.slice(copy.length));
        assert(!error.message.includes('\n'));
        return true;
      });
      assert.deepEqual([...app.store.desk.entries()], []);
      assert.equal(app.store.database.log.size('desk'), 0);
      assert.deepEqual([...app.store.database.log.heads('desk')], []);
    });
  }
});
