import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import sharp from 'sharp';
import { tempFolder } from '../../support/app-context.ts';
import { clockOffBy, skipWithoutFaketime } from '../../support/faketime.ts';
import { runAlone, serve, start } from '../../support/program.ts';
import { send } from '../../support/send.ts';
import { ONLY_WIDE } from '../../support/wide.ts';
import { folderOf } from './archives.ts';

// What may happen to an import on the way: it is killed, it is not alone, the clock is wrong, the disk is full.

const ROUNDS = Number(process.env.IMPORT_ROUNDS ?? 2);
const PIECES = 60;
const DAY = 86_400;

/** A site of Jekyll with a picture in each piece. */
async function siteIn(folder: string, name: string, category: string, pieces = PIECES): Promise<string> {
  const files: Record<string, string | Buffer> = { '_config.yml': `title: ${name}\nurl: https://${name}.example\n` };
  for (let n = 0; n < pieces; n++) {
    // Noise, so that a picture is larger than a page of memory.
    files[`img/${n}.png`] = await sharp(randomBytes(48 * 48 * 3), { raw: { width: 48, height: 48, channels: 3 } })
      .png()
      .toBuffer();
    files[`_posts/2019-05-20-${name}-${n}.md`] =
      `---\ntitle: ${name} ${n}\ncategories: [${category}, Tides]\nimage: /img/${n}.png\n---\n${'Ebb and flow. '.repeat(50)}\n\n![${n}](/img/${n}.png)\n`;
  }
  return folderOf(join(folder, name), files);
}

const args = (site: string, ...more: string[]) => ['import', site, '--paper', 'quay', '--create', '--air', ...more];

/** What an import has made: each piece by its address with its revision, state and picture; the sections. */
async function madeIn(t: TestContext, folder: string) {
  const file = join(folder, 'export.jsonl');
  rmSync(file, { force: true });
  assert.equal((await runAlone(t, folder, ['ledger', 'export', file])).code, 0);
  const entries = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const pieces = entries.flatMap(({ type, piece }) =>
    type === 'generation' ? [`${piece.slug} ${piece.revision}`] : [],
  );
  const airings = entries.filter(({ type }) => type === 'airing').length;
  const papers = entries.filter(({ kind }) => kind === 'paper');
  const media = entries.filter(({ kind }) => kind === 'media').map(({ name }) => name);
  return { pieces: pieces.sort(), airings, media: media.sort(), sections: papers.at(-1)?.body.sections, entries };
}

async function audited(t: TestContext, folder: string): Promise<void> {
  const { code, stdout } = await runAlone(t, folder, ['audit', '--deep']);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /, 0 faults\n$/);
}

test('an import that is killed again and again ends as one that was not', { skip: ONLY_WIDE }, async (t) => {
  const other = tempFolder(t);
  const site = await siteIn(other, 'harbour', 'News');
  const begun = performance.now();
  const whole = await runAlone(t, other, args(site));
  const took = performance.now() - begun;
  assert.equal(whole.code, 0, whole.stderr);
  const { entries: _, ...wanted } = await madeIn(t, other);
  assert.equal(wanted.pieces.length, PIECES);
  for (let round = 0; round < ROUNDS; round++) {
    const folder = tempFolder(t);
    // Each begins where the one before was killed, and gets further.
    for (const least of [0.2, 0.4, 0.6, 0.8]) {
      const child = start(t, folder, args(site));
      await pause(took * (least + 0.2 * Math.random()));
      child.child.kill('SIGKILL');
      await child.ended;
    }
    const last = await runAlone(t, folder, args(site));
    assert.equal(last.code, 0, last.stderr);
    const again = await runAlone(t, folder, args(site));
    assert.match(again.stdout, new RegExp(`^0 filed, ${PIECES} unchanged, 0 refused\n`));
    const { entries: __, ...made } = await madeIn(t, folder);
    assert.deepEqual(made, wanted);
    await audited(t, folder);
  }
});

test('imports at once, of the same and of another archive, bring in each piece once', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const [news, sport] = [await siteIn(folder, 'harbour', 'News', 40), await siteIn(folder, 'pitch', 'Sport', 40)];
  const outcomes = await Promise.all([news, news, sport, sport].map((site) => runAlone(t, folder, args(site))));
  for (const { code, stderr } of outcomes) assert.deepEqual([code, stderr], [0, '']);
  const { pieces, sections, media } = await madeIn(t, folder);
  assert.deepEqual([pieces.length, new Set(pieces).size, media.length, new Set(media).size], [80, 80, 80, 80]);
  assert.deepEqual([...sections].sort(), ['News', 'Sport']);
  await runAlone(t, folder, ['press']);
  await audited(t, folder);
});

test('an import beside a server that answers and presses', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  const first = await siteIn(folder, 'first', 'News', 5);
  assert.equal((await runAlone(t, folder, args(first))).code, 0);
  const site = await siteIn(folder, 'harbour', 'Sea');
  const server = await serve(t, folder);
  const importing = runAlone(t, folder, args(site));
  let isDone = false;
  void importing.finally(() => {
    isDone = true;
  });
  let answers = 0;
  while (!isDone) {
    assert.equal((await send(server.url, { path: '/quay/' })).status, 200);
    answers++;
    await pause(20);
  }
  const { code, stderr } = await importing;
  assert.deepEqual([code, stderr], [0, '']);
  assert.ok(answers > 3, `${answers} answers`);
  assert.equal((await send(server.url, { path: '/quay/stories/harbour-7/' })).status, 200);
  assert.equal((await server.stop()).code, 0);
  assert.match(
    (await runAlone(t, folder, args(site))).stdout,
    new RegExp(`^0 filed, ${PIECES} unchanged, 0 refused\n`),
  );
  await audited(t, folder);
});

test('an import with a clock that is behind or ahead', { skip: ONLY_WIDE || skipWithoutFaketime() }, async (t) => {
  const folder = tempFolder(t);
  const [first, second] = [await siteIn(folder, 'first', 'News', 5), await siteIn(folder, 'second', 'News', 5)];
  assert.equal((await runAlone(t, folder, args(first))).code, 0);
  const off = async (days: number) => {
    const { code, stdout, stderr } = await runAlone(t, folder, args(second), clockOffBy(days * DAY));
    return { code, said: stdout + stderr };
  };
  const before = (await madeIn(t, folder)).entries.length;
  const behind = await off(-40);
  assert.match(behind.said, /^broadsheet: nothing is signed: the clock here says .*: set it right;/);
  const farBehind = await off(-3_650);
  assert.match(
    farBehind.said,
    /second-0 published_at: 2019-05-20T\S+ is in the future \(it is 20\d\d-.* correct the date or the clock/,
  );
  assert.deepEqual([behind.code, farBehind.code], [1, 1]);
  assert.equal((await madeIn(t, folder)).entries.length, before);
  assert.match((await off(400)).said, /^5 filed, 0 unchanged, 0 refused\n/);
  assert.match((await off(0)).said, /^0 filed, 5 unchanged, 0 refused\n/);
  await audited(t, folder);
});

test('a disk that fills up, in each folder, leaves nothing half done', { skip: ONLY_WIDE }, async (t) => {
  for (const [part, size, said] of [
    ['var', '900k', /^broadsheet: the database \S+ cannot be written \(.*full/],
    ['var', '2500k', /^broadsheet: .*(?:ENOSPC.*; check the disk and its permissions|cannot be written \(.*full)/],
    ['papers', '900k', /^broadsheet: cannot press .*: the disk is full; free some space/],
    [
      'tmp',
      '4k',
      /^broadsheet: .*ENOSPC.*; check the disk and its permissions, then import again: imported pieces stay$/,
    ],
  ] as const) {
    const folder = tempFolder(t);
    const site = await siteIn(folder, 'harbour', 'News', 30);
    const [disk, tmp] = [join(folder, part), join(folder, 'tmp')];
    for (const made of new Set([disk, tmp])) mkdirSync(made);
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', disk]).status !== 0)
      return t.skip('needs the right to mount');
    try {
      const full = await runAlone(t, folder, args(site), { TMPDIR: tmp });
      assert.equal(full.code, 1);
      assert.match(full.stderr.trimEnd(), said);
      spawnSync('mount', ['-o', 'remount,size=200m', disk]);
      const again = await runAlone(t, folder, args(site), { TMPDIR: tmp });
      assert.equal(again.code, 0, again.stderr);
      const { pieces, media } = await madeIn(t, folder);
      assert.deepEqual([pieces.length, new Set(pieces).size, media.length], [30, 30, 30]);
      await audited(t, folder);
    } finally {
      spawnSync('umount', ['-l', disk]);
    }
  }
});
