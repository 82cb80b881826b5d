import assert from 'node:assert/strict';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { verifyAt } from '../../src/operate/audit/verify.ts';
import { tempFolder, treeOf } from '../support/app-context.ts';
import { copyContent, run } from '../support/program.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const ORIGIN = { ORIGIN: 'http://stand.example' };
const PAPERS = ['the-plumb-line', 'the-leading-light'];

test('one ledger gives one tree, whichever process presses it', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  copyContent(folder);
  await works(t, folder, ['file']);
  await works(t, folder, ['withdraw', 'im-a-teapot', '--paper', 'the-plumb-line', '--reason', 'It was wrong.']);

  await t.test('two full presses', async () => {
    const other = tempFolder(t);
    cpSync(join(folder, 'var'), join(other, 'var'), { recursive: true });
    await works(t, other, ['press', '--full']);
    assertSameTrees(folder, other);
  });

  await t.test('an export imported into an empty database', async () => {
    const other = tempFolder(t);
    const file = join(other, 'ledger.jsonl');
    await works(t, folder, ['ledger', 'export', file]);
    await works(t, other, ['ledger', 'import', file]);
    assertSameTrees(folder, other);
    await works(t, other, ['audit']);
    const again = join(other, 'again.jsonl');
    await works(t, other, ['ledger', 'export', again]);
    assert.ok(readFileSync(again).equals(readFileSync(file)), 'an import is exported as it came');
    const secret = readFileSync(join(folder, 'var/door.key'), 'utf8')
      .split('\n')
      .filter((line) => /^[A-Za-z0-9+/=]{40,}$/.test(line));
    for (const line of secret) assert.ok(!readFileSync(file, 'utf8').includes(line), 'the door’s secret stays at home');
  });

  await t.test('every proof holds', async () => {
    for (const paper of PAPERS) {
      const tree = join(folder, 'papers', paper);
      const checked = await verifyAt(tree);
      const proofs = [...treeOf(tree).keys()].filter((path) => path.endsWith('proof.json'));
      assert.equal(checked.length, proofs.length);
      for (const one of checked) assert.deepEqual(one.faults, [], JSON.stringify(one).slice(0, 200));
    }
  });
});

async function works(t: TestContext, folder: string, args: string[]): Promise<void> {
  const { code, stderr } = await run(t, folder, args, ORIGIN);
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
}

function assertSameTrees(one: string, other: string): void {
  for (const paper of PAPERS) {
    const [actual, expected] = [one, other].map((root) => treeOf(join(root, 'papers', paper))) as [
      Map<string, string>,
      Map<string, string>,
    ];
    assert.ok(expected.has('.well-known/newsdesk-keys.json'));
    // The news sitemap alone ages.
    for (const tree of [actual, expected]) tree.delete('sitemap-news.xml');
    assert.deepEqual([...actual.keys()].sort(), [...expected.keys()].sort());
    for (const [path, bytes] of expected) assert.ok(actual.get(path) === bytes, `${paper}/${path} differs`);
  }
}

test('the log of the demo is the same on every machine, apart from its keys, ids and times', {
  skip: ONLY_WIDE,
}, async (t) => {
  const logs = await Promise.all(
    [0, 1].map(async () => {
      const folder = tempFolder(t);
      copyContent(folder);
      await works(t, folder, ['file', '--no-press']);
      const file = join(folder, 'ledger.jsonl');
      await works(t, folder, ['ledger', 'export', file]);
      return leavesIn(readFileSync(file, 'utf8'));
    }),
  );
  assert.ok((logs[0]?.length ?? 0) > 60, `${logs[0]?.length} leaves`);
  assert.notDeepEqual(logs[0], logs[1], 'each has keys of its own');
  assert.deepEqual(logs[0]?.map(withoutMachine), logs[1]?.map(withoutMachine));
});

/** The entries of the log in an export, in order. */
function leavesIn(exported: string): string[] {
  return exported
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; entry: string })
    .flatMap(({ type, entry }) => (type === 'leaf' ? [entry] : []));
}

/** An entry without ids, hashes, keys, signatures and times. */
function withoutMachine(entry: string): string {
  return entry
    .replaceAll(/\b[0-9a-z]{26}\b/g, '<id>')
    .replaceAll(/\b[0-9a-f]{64}\b/g, '<hash>')
    .replaceAll(/\b(kid|x) [\w-]{43}$/gm, '$1 <key>')
    .replaceAll(/^(— \S+) \S+$/gm, '$1 <signature>')
    .replaceAll(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>');
}
