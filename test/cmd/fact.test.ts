import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { airStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { deskOf } from '../../src/server/context.ts';
import { appContextIn, createPaper, filing, PAPER, tempFolder } from '../support/app-context.ts';
import { run } from '../support/program.ts';

const NOON = Date.parse('2026-11-20T12:00:00Z');

test('facts are listed, shown, corrected and verified on the command line', async (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: NOON });
  createPaper(app);
  const [first, second] = filing('tide').cited_facts;
  assert.ok(first && second);
  const cited_facts = [{ ...first, claim_key: 'one-thing' }, second];
  for (const slug of ['tide', 'quay']) fileStory(deskOf(app), PAPER, filing(slug, { cited_facts }), { by: 'cli' });
  airStory(deskOf(app), PAPER, 'tide', { by: 'cli' });
  airStory(deskOf(app), PAPER, 'quay', { by: 'cli', at: Date.parse('2099-01-01T00:00:00Z') });
  const fact = (...args: string[]) => run(t, folder, ['fact', ...args, '--paper', PAPER]);

  assert.equal(
    (await fact('list')).stdout,
    'one-thing  version 1, standing, cited by 1 piece on air: One thing is so.\n',
  );
  assert.equal((await fact('list', '--q', 'nothing')).stdout, 'no facts\n');
  assert.equal(
    (await fact('list', '--q', 'thing', '--source', 'rfc editor', '--status', 'retracted')).stdout,
    'no facts\n',
  );

  const refused = async (message: RegExp, ...args: string[]) => {
    const { code, stderr } = await fact(...args);
    assert.equal(code, 1, stderr);
    assert.match(stderr, message);
  };
  await refused(
    /--status "gone" is not a status; give one of standing, corrected, retracted/,
    'list',
    '--status',
    'gone',
  );
  await refused(/has no fact "no-such-fact"/, 'show', 'no-such-fact');
  await refused(/has no fact "No Such"; a claim key has words/, 'show', 'No Such');
  const correct = (...args: string[]) => ['correct', 'one-thing', '--note', 'It was another.', ...args];
  await refused(/--from: "one": must be a number/, ...correct('--from', 'one', '--statement', 'Another.'));
  await refused(
    /version 2 of one-thing is not the newest, which is 1/,
    ...correct('--from', '2', '--statement', 'Another.'),
  );
  await refused(/this is what version 1 says already/, ...correct('--from', '1'));

  const corrected = await fact(...correct('--from', '1', '--statement', 'Another thing is so.'));
  assert.equal(corrected.code, 0, corrected.stderr);
  assert.match(corrected.stdout, /^one-thing version 2: corrected$/m);
  assert.match(corrected.stdout, /stories\/tide\/ cites version 1; revise it/);
  const retracted = await fact(...correct('--from', '2', '--status', 'retracted', '--json'));
  const { fact: newest, cited_by, unscheduled } = JSON.parse(retracted.stdout);
  assert.deepEqual([newest.version, newest.status, newest.note], [3, 'retracted', 'It was another.']);
  assert.deepEqual(unscheduled, ['quay']);
  assert.equal(cited_by.length, 2);
  const shown = (await fact('show', 'one-thing')).stdout;
  assert.match(shown, /^version 1, standing, 2026-11-20T12:00:00.000Z\n {2}One thing is so\.$/m);
  assert.match(shown, /^cited by \S+\/stories\/tide\/ \(on air\), version 1$/m);
  const { stdout: activity } = await run(t, folder, ['activity', '--paper', PAPER, '--json']);
  const did = (JSON.parse(activity) as { action: string }[]).map(({ action }) => action);
  assert.deepEqual(did.slice(0, 3).sort(), ['fact.corrected', 'fact.corrected', 'piece.withdrawn']);

  const file = join(folder, 'fact.json');
  const document = (await fact('show', 'one-thing', '--json')).stdout;
  writeFileSync(file, document);
  const good = await run(t, folder, ['verify', file]);
  assert.equal(good.code, 0, good.stdout);
  assert.match(good.stdout, /^one-thing version 3, retracted: the hashes, the notes and the chain hold$/m);
  assert.match(good.stdout, /never that the fact is true/);
  writeFileSync(file, document.replaceAll('Another thing is so.', 'Any thing is so.'));
  const bad = await run(t, folder, ['verify', file, '--json']);
  assert.equal(bad.code, 1);
  assert.match(JSON.parse(bad.stdout)[0].faults[0], /^versions\[1\]: fact_hash is not the hash of what it says/);
});
