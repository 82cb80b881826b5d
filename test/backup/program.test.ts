import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { tempFolder, treeOf } from '../support/app-context.ts';
import { run, serve, start } from '../support/program.ts';
import { TIMES } from '../support/properties.ts';
import { send } from '../support/send.ts';
import { enterPapers, storyBody } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const PAPER = 'tide-table';
const KILLS = 3 * TIMES;

test('a folder under restore is unusable', async (t) => {
  const folder = tempFolder(t);
  mkdirSync(join(folder, 'var/.restoring'), { recursive: true });
  const { code, stderr } = await run(t, folder, ['paper', 'list']);
  assert.notEqual(code, 0);
  assert.match(stderr, /a restore into \S+ is under way or was interrupted; wait for it, or run it again/);
  assert.deepEqual(readdirSync(join(folder, 'var')), ['.restoring']);
});

test('a server files while it is backed up, and a backup that is killed leaves nothing', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const keys = await enterPapers(folder, [{ slug: PAPER }]);
  const server = await serve(t, folder, { ORIGIN: 'https://papers.example' });
  const headers = { authorization: `Bearer ${keys.get(PAPER)?.admin}` };
  const filed: string[] = [];
  let isOver = false;
  const filing = (async () => {
    for (let n = 0; !isOver; n++) {
      const body = { ...storyBody(`story-${n}`), air: true };
      const { status, text } = await send(server.url, {
        method: 'POST',
        path: `/${PAPER}/api/v1/stories`,
        headers,
        body,
      });
      assert.equal(status, 201, text);
      filed.push(`story-${n}`);
    }
  })();
  const backups = join(folder, 'backups');
  for (let n = 0; n < KILLS; n++) {
    const killed = start(t, folder, ['backup', join(backups, `killed-${n}.tar.zst`)]);
    await sleep(Math.random() * 1_200);
    killed.child.kill('SIGKILL');
    await killed.ended;
  }
  const before = filed.length;
  const { code, stderr } = await run(t, folder, ['backup', join(backups, 'whole.tar.zst')]);
  assert.equal(code, 0, stderr);
  const after = filed.length + 1;
  assert.ok(
    readdirSync(backups).every((name) => !name.startsWith('.')),
    readdirSync(backups).join(),
  );
  isOver = true;
  await filing;
  for (const name of readdirSync(backups)) {
    const drilled = await run(t, folder, ['restore', '--drill', '--json', join(backups, name)]);
    assert.equal(drilled.code, 0, `${name}: ${drilled.stdout} ${drilled.stderr}`);
    if (name !== 'whole.tar.zst') continue;
    const { audit, heads } = JSON.parse(drilled.stdout);
    // Four stories of the paper come from its folder.
    const stories = audit.generations - 4;
    assert.ok(stories >= before && stories <= after, `${before} <= ${stories} <= ${after}`);
    assert.match(heads.join('\n'), /^log of the desk: a head of \d+ leaves; the published log in \S+ has \d+ leaves/);
    assert.match(heads.join('\n'), /the database \S+broadsheet\.db has \d+ leaves/);
  }

  // Another machine: the same tree, to the byte, from a backup made while the server stands still.
  assert.equal((await run(t, folder, ['backup', join(backups, 'last.tar.zst')])).code, 0);
  assert.equal((await server.stop()).code, 0);
  const machine = tempFolder(t);
  for (let n = 0; n < KILLS; n++) {
    const killed = start(t, machine, ['restore', join(backups, 'last.tar.zst')]);
    await sleep(Math.random() * 1_200);
    killed.child.kill('SIGKILL');
    await killed.ended;
    if (!existsSync(join(machine, 'var/.restoring')) && existsSync(join(machine, 'var/broadsheet.db'))) break;
    const aside = join(machine, 'var/.restoring');
    // Beside the database, an empty folder is all that is left to remove.
    const isInPlace = existsSync(join(machine, 'var/broadsheet.db'));
    const isInterrupted = existsSync(aside) && !(isInPlace && readdirSync(aside).length === 0);
    const used = await run(t, machine, ['paper', 'list']);
    if (isInterrupted) assert.match(used.stderr, /was interrupted; wait for it, or run it again/);
    await import('node:fs/promises').then(({ rm }) =>
      used.code === 0 ? rm(join(machine, 'var'), { recursive: true }) : undefined,
    );
  }
  const restored = await run(t, machine, ['restore', join(backups, 'last.tar.zst')]);
  if (restored.code !== 0) {
    assert.match(restored.stderr, /is not empty \(it has /);
    assert.ok(existsSync(join(machine, 'var/broadsheet.db')), restored.stderr);
  }
  assert.deepEqual(
    readdirSync(machine).filter((name) => name !== 'var'),
    [],
  );
  const pressed = await run(t, machine, ['press', '--full'], { ORIGIN: 'https://papers.example' });
  assert.equal(pressed.code, 0, pressed.stderr);
  const [here, there] = [treeOf(join(folder, 'papers')), treeOf(join(machine, 'papers'))];
  assert.deepEqual([...there.keys()].sort(), [...here.keys()].sort());
  assert.deepEqual(
    [...there].filter(([path, bytes]) => here.get(path) !== bytes).map(([path]) => path),
    [],
  );
  const audited = await run(t, machine, ['audit'], { ORIGIN: 'https://papers.example' });
  assert.equal(audited.code, 0, audited.stdout);
});
