import assert from 'node:assert/strict';
import { test } from 'node:test';
import { airStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { deskOf } from '../../src/server/context.ts';
import { appContextIn, createPaper, filing, PAPER, tempFolder } from '../support/app-context.ts';
import { run } from '../support/program.ts';

test('what waits is listed, sent back and approved on the command line', async (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: Date.parse('2026-11-20T12:00:00Z') });
  createPaper(app, { review: 'required' });
  for (const slug of ['tide', 'quay']) fileStory(deskOf(app), PAPER, filing(slug), { by: 'key:a', isAgent: true });
  airStory(deskOf(app), PAPER, 'tide', { by: 'key:a', at: Date.parse('2026-11-20T13:00:00Z') });
  const review = (...args: string[]) => run(t, folder, ['review', ...args, '--paper', PAPER]);
  assert.equal(
    (await review('list')).stdout,
    'quay  revision 1\ntide  revision 1  scheduled for 2026-11-20T13:00:00.000Z\n',
  );
  assert.match(
    (await run(t, folder, ['air', 'quay', '--paper', PAPER])).stdout,
    /^quay is scheduled for \S+, and waits until a person approves it$/m,
  );

  const refused = async (message: RegExp, ...args: string[]) => {
    const { code, stderr } = await review(...args);
    assert.equal(code, 1, stderr);
    assert.match(stderr, message);
  };
  const by = ['--by', 'Ida Quist'];
  await refused(/has no piece with the slug "none"/, 'approve', 'none', '--revision', '1', ...by);
  await refused(/--revision: "one": must be a number/, 'approve', 'tide', '--revision', 'one', ...by);
  await refused(/revision 2 of tide is not the newest/, 'approve', 'tide', '--revision', '2', ...by);
  await refused(/--by: " ": must not be empty/, 'approve', 'tide', '--revision', '1', '--by', ' ');
  await refused(/form of a mail address/, 'approve', 'tide', '--revision', '1', '--by', 'ida@example.org');

  const asked = await review('request-changes', 'tide', '--revision', '1', ...by, '--note', 'Which tide?');
  assert.match(asked.stdout, /^revision 1 of tide: changes requested; it is scheduled$/m);
  const [, row] = JSON.parse((await review('list', '--json')).stdout);
  assert.deepEqual([row.slug, row.review.state, row.review.note], ['tide', 'changes_requested', 'Which tide?']);
  const approved = await review('approve', 'tide', '--revision', '1', ...by, '--role', 'Night editor', '--json');
  const { at, ...rest } = JSON.parse(approved.stdout).review;
  assert.match(at, /^20/);
  assert.deepEqual(rest, { state: 'approved', by: 'Ida Quist', note: null });
  assert.equal(app.store.desk.archive(PAPER).storyBySlug('tide')?.reviewed_by?.role, 'Night editor');
  await refused(/Ida Quist approved revision 1 of tide at /, 'approve', 'tide', '--revision', '1', ...by);
  assert.equal((await review('list')).stdout.split('\n').length, 2);

  // A seat has a name of its own, so that its address is never signed.
  const seat = [
    'seat',
    'add',
    '--paper',
    PAPER,
    '--email',
    'ida@example.org',
    '--level',
    'admin',
    '--name',
    'Ida Quist',
  ];
  assert.equal((await run(t, folder, seat)).code, 0);
  assert.match((await run(t, folder, ['seat', 'list', '--paper', PAPER])).stdout, /ida@example\.org {2}Ida Quist$/m);
});
