import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { siteOf } from '../../src/desk/press/edition.ts';
import { printerOf } from '../../src/desk/press/press.ts';
import { openTree } from '../../src/desk/press/tree.ts';
import { mediaFiles } from '../../src/media/media.ts';
import { pictureCache } from '../../src/media/picture-cache.ts';
import { appContextIn, createPaper, PAPER, tempFolder } from '../support/app-context.ts';

test('timers and messages are heard between many short batches', async (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: Date.parse('2026-11-20T12:00:00Z') });
  createPaper(app);
  // Each look at the time is a millisecond later, so that no batch takes as long as a slice.
  let now = 0;
  t.mock.method(performance, 'now', () => ++now);
  const printer = printerOf({
    paper: PAPER,
    archive: app.store.desk.archive(PAPER),
    manifest: app.store.desk.manifest,
    site: siteOf(`${app.settings.origin}/${PAPER}`),
    tree: openTree(join(folder, 'tree'), {
      aside: join(folder, 'aside'),
      sync: false,
      isNew: true,
      assertHeld: () => undefined,
    }),
    tools: { render: () => assert.fail(), assets: () => [], pictures: app.store.pictures, now: app.clock.now() },
    mediaFile: () => assert.fail(),
    checksDisk: false,
  });
  let isHeard = false;
  setImmediate(() => {
    isHeard = true;
  });
  for (let batch = 0; batch < 100 && !isHeard; batch++) await printer.printAll(['nothing at all'], () => undefined);
  assert.ok(isHeard);
});

test('others cannot write the files of a tree, its media or its pictures, whatever the umask', async (t) => {
  const folder = tempFolder(t);
  const tree = join(folder, 'tree');
  const before = process.umask(0);
  t.after(() => process.umask(before));
  const modeOf = (file: string) => statSync(file).mode & 0o777;
  const bytes = Buffer.from('text');
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  // A checkout under umask 002 can be written by its group.
  const original = join(folder, 'original');
  writeFileSync(original, bytes, { mode: 0o664 });
  for (const isNew of [true, false]) {
    const options = { aside: join(folder, 'aside'), sync: true, isNew, assertHeld: () => undefined };
    await openTree(tree, options).write(`${isNew}.txt`, bytes);
    assert.equal(modeOf(join(tree, `${isNew}.txt`)), 0o644);
    await openTree(tree, options).copy(`${isNew}.svg`, original, digest);
    assert.equal(modeOf(join(tree, `${isNew}.svg`)), 0o644);
  }
  for (const given of [undefined, bytes]) {
    const media = mediaFiles(join(folder, given === undefined ? 'copied' : 'written'));
    media.keepFile(digest, original, given);
    assert.equal(modeOf(media.pathOf(digest)), 0o644);
  }
  await pictureCache(join(folder, 'pictures')).keep('abcd', [['a.webp', bytes]]);
  assert.equal(modeOf(join(folder, 'pictures/ab/abcd/a.webp')), 0o644);
});
