import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { PAPER } from '../support/app-context.ts';
import { paperOf } from './paper-copy.ts';

test('a full press restores damaged and lost files', async (t) => {
  const { app, tree } = await paperOf(t, 2);
  const full = async () => (await pressPapers(app, { full: true, cards: false })).get(PAPER)?.written;
  for (const path of ['stories/piece-1/proof.json', 'stories/piece-1/index.html', 'stories/piece-1.md', 'rss.xml']) {
    const file = join(tree, path);
    const sound = readFileSync(file, 'utf8');
    writeFileSync(file, sound.replace('tide', 'TIDE').replace('"', "'"));
    assert.equal(await full(), 1, `${path} was damaged`);
    assert.equal(readFileSync(file, 'utf8'), sound);
    rmSync(file);
    assert.equal(await full(), 1, `${path} was lost`);
    assert.equal(readFileSync(file, 'utf8'), sound);
  }
});

test('the first press after an upgrade removes the prose that earlier versions kept', async (t) => {
  const { app } = await paperOf(t, 2);
  const folder = join(app.settings.dataDir, 'press-cache');
  mkdirSync(folder);
  writeFileSync(join(folder, `${PAPER}.db`), 'x');
  app.store.desk.manifest.setStamp(PAPER, 'the code of an earlier version');
  await pressPapers(app, { cards: false });
  assert.ok(!existsSync(folder));
});
