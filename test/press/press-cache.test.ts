import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadBuild } from '../../src/app/build.ts';
import { type AppContext, pressCacheFile } from '../../src/app/context.ts';
import { pressPapers } from '../../src/app/press-run.ts';
import { airStory, withdrawStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/filing.ts';
import type { PaperBody } from '../../src/desk/paper.ts';
import { tags } from '../../src/desk/tags.ts';
import { sha256 } from '../../src/ledger/basis.ts';
import type { Proof } from '../../src/ledger/proof.ts';
import { POOL_MIN } from '../../src/press/press.ts';
import type { PackStore } from '../../src/press/press-cache.ts';
import { PressCache } from '../../src/press/press-cache.ts';
import { proofText, proofVersion } from '../../src/press/proof-text.ts';
import { proseHtml } from '../../src/press/prose-html.ts';
import { cachedProse, proseVersion, shownProse } from '../../src/press/shown-prose.ts';
import { PackFile } from '../../src/store/press-packs.ts';
import { appContextIn, createPaper, filing, PAPER, tempFolder, treeOf } from '../support/app-context.ts';
import { assertSameTree, fullPress } from '../support/full-press.ts';
import { run } from '../support/program.ts';
import * as fc from '../support/properties.ts';

const START = Date.parse('2026-11-20T12:00:00Z');
const PAGE = 'stories/tide/index.html';
const PROOF = 'stories/tide/proof.json';

/** A paper with one piece on air. */
async function aired(t: { after(work: () => void): void }, piece: Parameters<typeof filing>[1] = {}) {
  const folder = tempFolder(t);
  const clock = { now: START };
  const app = appContextIn(t, folder, clock);
  createPaper(app);
  fileStory(app.desk, PAPER, filing('tide', piece), { by: 'cli' });
  airStory(app.desk, PAPER, 'tide', { by: 'cli', at: clock.now });
  const papers = join(folder, 'papers', PAPER);
  const read = (path: string) => readFileSync(join(papers, path), 'utf8');
  const press = () => pressPapers(app, { full: true, cards: false });
  const assertAsCold = async () => assertSameTree(treeOf(papers), await fullPress(t, folder, clock, false));
  return { app, clock, folder, papers, read, press, assertAsCold };
}

/** Opens the paper's cache as a press does. */
async function withCache<T>(app: AppContext, work: (cache: PressCache) => T, code?: string): Promise<T> {
  const packs = new PackFile(pressCacheFile(app.settings, PAPER), code ?? (await loadBuild()).cacheCode);
  try {
    return work(new PressCache(packs));
  } finally {
    packs.close();
  }
}

const tideOf = (app: AppContext) => {
  const story = app.store.archive(PAPER).storyBySlug('tide');
  assert.ok(story !== null);
  return story;
};

function changePaper({ store }: AppContext, change: Partial<PaperBody>): void {
  store.transact(() => {
    const { slug: _slug, edition: _edition, changed_at: _at, ...body } = store.archive(PAPER).paper();
    store.setPaper(PAPER, { ...body, ...change }, START);
    store.markStale(PAPER, [tags.config]);
  });
}

/** Whether the cache has the prose of the piece, as it is now. */
const isCached = (app: AppContext) =>
  withCache(app, (cache) => {
    const load = cache.load(['story/tide']);
    return load.get('story/tide', proseVersion(tideOf(app))) !== null;
  });

/** Keeps another prose for the piece. */
async function forgeProse(app: AppContext, code?: string): Promise<void> {
  await withCache(
    app,
    (cache) => {
      const markers = new Map([1, 2].map((n) => [n, 1]));
      const load = cache.load([]);
      cachedProse(load, 'story/tide', tideOf(app), () => ({ html: '<p>FORGED “prose”</p>\n', markers }));
      load.save();
    },
    code,
  );
}

test('a page and the feeds take prose from the cache, as long as the same code rendered it', async (t) => {
  const { app, read, press, assertAsCold } = await aired(t);
  await forgeProse(app);
  await press();
  assert.match(read(PAGE), /<div class="prose"><p>FORGED “prose”<\/p>\n<\/div>/);
  assert.match(read('rss.xml'), /FORGED “prose”/);
  // The next one is that of another version.
  await forgeProse(app, 'another version');
  await press();
  assert.doesNotMatch(read(PAGE), /FORGED/);
  rmSync(pressCacheFile(app.settings, PAPER));
  await press();
  assert.doesNotMatch(read(PAGE), /FORGED/);
  // Feeds keep what they rendered in memory too, by the hash of its content.
  fileStory(app.desk, PAPER, filing('tide', { prose: 'The tide was early.[^1] [^2]' }), { by: 'cli' });
  await press();
  await assertAsCold();
});

test('a proof stays as it is while it is made of the same, and is read nevertheless', async (t) => {
  const { app, papers, read, press, assertAsCold } = await aired(t);
  await press();
  const sound = read(PROOF);
  writeFileSync(join(papers, PROOF), sound.replace('"prose": "', '$&DAMAGED '));
  await press();
  assert.equal(read(PROOF), sound, 'a damaged proof was left');
  rmSync(join(papers, PROOF));
  await press();
  assert.equal(read(PROOF), sound, 'a lost proof was not made again');
  // No press can tell this from one of its own.
  const forged = sound.replace('"prose": "', '$&FORGED ');
  const digest = sha256(forged);
  const basis = await withCache(app, (cache) => {
    let load = cache.load([]);
    const generations = app.store.archive(PAPER).generations(tideOf(app).id);
    const keysUrl = (JSON.parse(sound) as Proof).receipt_verify.keys_url;
    const basis = proofVersion(tideOf(app), { generations, keys: app.store.archive(PAPER).keys(), keysUrl, log: null });
    load = cache.load(['proof/tide']);
    assert.deepEqual(load.get('proof/tide', basis)?.value, sha256(sound));
    load.put('proof/tide', basis, digest);
    load.save();
    return basis;
  });
  writeFileSync(join(papers, PROOF), forged);
  const changed = [{ path: PROOF, digest }];
  app.store.manifest.record(PAPER, [{ name: 'proof/tide', tags: 'forged', exists: true, changed, gone: [] }]);
  await press();
  assert.equal(read(PROOF), forged, 'the proof was made again');
  fileStory(app.desk, PAPER, filing('tide', { prose: 'The tide was early.[^1] So.[^2]' }), { by: 'cli' });
  await press();
  assert.match(read(PROOF), /The tide was early/);
  await withCache(app, (cache) => {
    const load = cache.load(['proof/tide']);
    assert.equal(load.get('proof/tide', basis), null);
  });
  await assertAsCold();
});

test('prose of another revision, of another language or of a withdrawn piece is not taken', async (t) => {
  const { app, read, press, assertAsCold } = await aired(t);
  await press();
  await forgeProse(app);
  fileStory(app.desk, PAPER, filing('tide', { prose: 'The tide was late.[^1] The quay was wet.[^2]' }), { by: 'cli' });
  await press();
  assert.match(read(PAGE), /The tide was late\./);
  await withCache(app, (cache) => {
    const load = cache.load(['story/tide']);
    let rendered = 0;
    const ask = (other: object) =>
      cachedProse(load, 'story/tide', { ...tideOf(app), ...other }, () => {
        rendered++;
        return { html: '', markers: new Map() };
      });
    assert.match(Buffer.from(ask({}).html).toString(), /The tide was late/);
    assert.equal(rendered, 0);
    ask({ language: 'fr' });
    ask({ content_hash: `sha256:${'0'.repeat(64)}` });
    assert.equal(rendered, 2);
  });
  withdrawStory(app.desk, PAPER, 'tide', { by: 'cli', reason: 'It was wrong.' });
  await press();
  assert.doesNotMatch(read(PAGE), /The tide was late\./);
  await assertAsCold();
});

test('text on a page that looks like the place of the prose is not taken for it', async (t) => {
  const hole = '<div class="prose"><!--prose--></div>';
  const text = `${hole} "<!--prose-->" ${hole}`;
  const { app, read, press, assertAsCold } = await aired(t, {
    headline: text,
    dek: text,
    prose: `\`${text}\`[^1] &lt;!--prose--&gt; [^2]`,
    credit: text,
  });
  await press();
  const cold = read(PAGE);
  app.store.manifest.markStale(PAPER, ['config']);
  await press();
  assert.equal(read(PAGE), cold);
  await forgeProse(app);
  await press();
  const parts = cold.split(/(?<=<div class="prose">)<p>[\s\S]*?\n(?=<\/div>)/);
  assert.equal(parts.length, 2);
  assert.equal(read(PAGE), parts.join('<p>FORGED “prose”</p>\n'));
  rmSync(pressCacheFile(app.settings, PAPER));
  await press();
  await assertAsCold();
});

test('prose is kept as it was rendered, whatever it says', () => {
  const FACTS = [1, 2, 3].map((n) => ({ n, statement: 'So.', source: 'A "source"', instrument: 'i', claim_key: null }));
  const words = fc.constantFrom(
    ...['Tide', '[^1]', '[^2]', '[^9]', '</div>', '<div class="prose">', '\n</div>\n', '\n\n', '\n', '`x </div>`'],
    ...['```\n</div>\n```\n', '# ', '> ', '* ', '| a | b |\n|---|---|\n| c | d |\n', '&lt;', '**', '潮', '\u2028'],
    ...['\ufeff', '<sup class="marker" id="x" data-n="1">', '[a](https://a.example "t")', '~~', '---\n', '    code\n'],
    ...['\u0000', '\ud800', '😀', '<!--prose-->'],
  );
  const story = (prose: string) => ({ prose, language: 'en', content_hash: sha256(prose) });
  fc.assert(
    fc.property(fc.array(words, { minLength: 1, maxLength: 12 }), (parts) => {
      const prose = parts.join('');
      const render = () => proseHtml(prose, FACTS, (path) => path);
      const packs = packsInMemory();
      const cache = new PressCache(packs);
      let load = cache.load([]);
      const first = cachedProse(load, 'story/a', story(prose), render);
      assert.deepEqual(first, shownProse(render(), story(prose)));
      load.save();
      load = cache.load(['story/a']);
      const kept = cachedProse(load, 'story/a', story(prose), () => assert.fail('it was rendered again'));
      assert.deepEqual(
        { ...kept, html: Buffer.from(kept.html).toString() },
        { ...first, html: wellFormed(first.html) },
      );
    }),
  );
});

/** Files hold U+FFFD in place of half a surrogate pair. */
const wellFormed = (html: string | Uint8Array) => String(html).toWellFormed();

function packsInMemory(): PackStore & { packs: Map<string, Uint8Array> } {
  const packs = new Map<string, Uint8Array>();
  return {
    packs,
    packsWith: (outputs) => [...new Set(outputs.flatMap((output) => packs.get(output) ?? []))],
    add: (outputs, pack) => {
      for (const output of outputs) packs.set(output, pack);
    },
    remove: (outputs) => {
      for (const output of outputs) packs.delete(output);
    },
    tidy: () => undefined,
    clear: () => packs.clear(),
  };
}

test('prose that shows pictures is rendered again, and not what only looks as if', () => {
  const isKept = (prose: string) => {
    const packs = packsInMemory();
    const cache = new PressCache(packs);
    const load = cache.load([]);
    const story = { prose, language: 'en', content_hash: sha256(prose) };
    cachedProse(load, 'story/a', story, () => proseHtml(prose, [], (path) => path));
    load.save();
    return packs.packs.size === 1;
  };
  const pictures = ['![p](media/p.jpg)', 'a ![](media/p.jpg) b', '[![p][r]](https://a.example)\n\n[r]: media/p.jpg'];
  for (const prose of [...pictures, '![a\n</div>](media/p.jpg)\n![b](media/q.jpg "\n</div>")'])
    assert.ok(!isKept(prose), prose);
  for (const prose of ['Wow![^1]', '`![p](media/p.jpg)`', '<img src="media/p.jpg">', '[a](b.html "<img")'])
    assert.ok(isKept(prose), prose);
  assert.ok(!isKept('long '.repeat(60_000)), 'what is very long is not kept');
});

test('of a damaged pack nothing is taken', () => {
  const packs = packsInMemory();
  const cache = new PressCache(packs);
  const get = () => {
    const load = cache.load(['a', 'b']);
    return [load.get('a', 'x')?.value, load.get('b', 'y')?.value, load.get('a', 'y')];
  };
  const load = cache.load([]);
  load.put('a', 'x', 1, Buffer.from('one'));
  load.put('b', 'y', 2);
  load.save();
  assert.deepEqual(get(), [1, 2, null]);
  const pack = Buffer.from(packs.packs.get('a') ?? []);
  for (let at = 0; at < pack.length; at++) {
    const damaged = Buffer.from(pack);
    damaged[at] = (damaged[at] ?? 0) ^ 4;
    packs.add(['a', 'b'], damaged);
    assert.deepEqual(get(), [undefined, undefined, null]);
    packs.add(['a', 'b'], pack.subarray(0, at));
    assert.deepEqual(get(), [undefined, undefined, null]);
  }
});

test('a press goes on without a cache that is damaged, and makes a new one', async (t) => {
  const { app, clock, folder, press, assertAsCold } = await aired(t);
  await press();
  clock.now = Date.now();
  const file = pressCacheFile(app.settings, PAPER);
  // In processes of their own, whose connections end with them.
  const pressElsewhere = async () => {
    const { code, stderr } = await run(t, folder, ['press', '--full', '--no-cards'], { ORIGIN: app.settings.origin });
    assert.equal(code, 0, stderr);
  };
  await pressElsewhere();
  const size = statSync(file).size;
  const damages: (() => void)[] = [
    () => writeFileSync(file, 'no database'),
    () => truncateSync(file, size - 16_384),
    () => truncateSync(file, 100),
    () => writeFileSync(file, readFileSync(file).fill(7, 16_384)),
    () => writeFileSync(`${file}-wal`, Buffer.alloc(100_000, 3)),
    () => rmSync(join(file, '..'), { recursive: true }),
  ];
  for (const damage of damages) {
    damage();
    await pressElsewhere();
    await assertAsCold();
    await pressElsewhere();
    assert.ok(await isCached(app), `${damage} left no cache`);
  }
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(statSync(join(file, '..')).mode & 0o777, 0o700);
  for (const place of [file, `${file}-wal`]) {
    rmSync(place, { force: true });
    mkdirSync(place);
    await pressElsewhere();
    await assertAsCold();
    assert.ok(await isCached(app), 'a folder in its place was left');
  }
});

test('a press that ends early leaves a cache of which the next one takes what is sound', async (t) => {
  const { app, press, assertAsCold } = await aired(t);
  for (const slug of ['quay', 'mole', 'pier']) {
    fileStory(app.desk, PAPER, filing(slug), { by: 'cli' });
    airStory(app.desk, PAPER, slug, { by: 'cli', at: START });
  }
  for (let steps = 1; steps < 30; steps += 3) {
    let left = steps;
    const progress = () => {
      if (--left === 0) throw new Error('the power went');
    };
    await pressPapers(app, { full: true, cards: false, progress }).catch(() => undefined);
  }
  await press();
  await assertAsCold();
  await withCache(app, (cache) => {
    let load = cache.load([]);
    const slugs = ['tide', 'quay', 'mole', 'pier'];
    load = cache.load(slugs.map((slug) => `story/${slug}`));
    for (const slug of slugs) {
      const story = app.store.archive(PAPER).storyBySlug(slug);
      assert.ok(story !== null && load.get(`story/${slug}`, proseVersion(story)) !== null, slug);
    }
  });
});

test('the cache of a removed paper is removed with its tree, or whatever is in its place', async (t) => {
  const { app, press } = await aired(t);
  await press();
  const file = pressCacheFile(app.settings, PAPER);
  assert.ok(existsSync(file));
  rmSync(file);
  mkdirSync(join(file, 'folder'), { recursive: true });
  app.store.transact(() => app.store.papers.removePaper(PAPER, START));
  await pressPapers(app);
  assert.deepEqual(readdirSync(join(file, '..')), []);
});

test('whatever a proof is made of is in its version', async (t) => {
  const { app, press, read } = await aired(t);
  await press();
  const archive = app.store.archive(PAPER);
  const piece = tideOf(app);
  const generations = archive.generations(piece.id);
  const keysUrl = (JSON.parse(read(PROOF)) as Proof).receipt_verify.keys_url;
  const keys = archive.keys();
  const sources = { generations, keys, keysUrl, log: archive.logProof(generations[0]?.receipt ?? '') };
  assert.equal(proofText(piece, sources), read(PROOF));
  const basis = proofVersion(piece, sources);
  assert.equal(proofVersion(piece, structuredClone(sources)), basis);
  const [first] = generations;
  const [key] = keys;
  assert.ok(first !== undefined && key !== undefined);
  const others = [
    { keysUrl: 'https://other.example' },
    { log: { origin: 'o', index: 1, tlog_proof: 'p' } },
    { generations: [first, first] },
    { keys: [{ ...key, name: 'other' }] },
    { keys: [{ ...key, publicKey: key.publicKey.toReversed() }] },
    ...(['revision', 'seq'] as const).map((name) => ({ generations: [{ ...first, [name]: 7 }] })),
    ...(['content_hash', 'receipt_hash', 'filed_at', 'kid', 'receipt'] as const).map((name) => ({
      generations: [{ ...first, [name]: `${first[name]} other` }],
    })),
  ];
  for (const other of others)
    assert.notEqual(proofVersion(piece, { ...sources, ...other }), basis, JSON.stringify(other));
  for (const other of [{ id: '01jd000000000000000000000b' }, { revision: 2 }])
    assert.notEqual(proofVersion({ ...piece, ...other }, sources), basis);
});

test('threads of a large press take prose and proofs from the cache, and fill it', async (t) => {
  const { app, papers, press } = await aired(t);
  const slugs = Array.from({ length: POOL_MIN }, (_, n) => `piece-${n}`);
  app.store.transact(() => {
    for (const slug of slugs) {
      fileStory(app.desk, PAPER, filing(slug), { by: 'cli' });
      airStory(app.desk, PAPER, slug, { by: 'cli', at: START });
    }
  });
  await press();
  const cold = treeOf(papers);
  const archive = app.store.archive(PAPER);
  const stories = slugs.map((slug) => archive.storyBySlug(slug)).filter((story) => story !== null);
  await withCache(app, (cache) => {
    const load = cache.load([...slugs.map((slug) => `story/${slug}`), ...slugs.map((slug) => `proof/${slug}`)]);
    for (const story of stories) {
      const cached = load.get(`story/${story.slug}`, proseVersion(story));
      assert.ok(cached !== null, `${story.slug} is not cached`);
      load.put(`story/${story.slug}`, proseVersion(story), cached.value, Buffer.from('<p>FORGED</p>\n'));
    }
    load.save();
  });
  await press();
  const forged = [...treeOf(papers)].filter(([, text]) => text.includes('<div class="prose"><p>FORGED</p>\n</div>'));
  assert.equal(forged.length, slugs.length);
  rmSync(pressCacheFile(app.settings, PAPER));
  await press();
  assertSameTree(treeOf(papers), cold);
});

test('a withdrawn piece leaves the cache with the next full press, a private paper leaves none', async (t) => {
  const { app, press } = await aired(t);
  await press();
  const file = pressCacheFile(app.settings, PAPER);
  const holds = (text: string) => readFileSync(file).includes(text) || readFileSync(`${file}-wal`).includes(text);
  assert.ok(holds('"story/tide"'));
  withdrawStory(app.desk, PAPER, 'tide', { by: 'cli', reason: 'It was wrong.' });
  await press();
  await withCache(app, (cache) => {
    const load = cache.load([]);
    assert.deepEqual([...load.read(new Map([['story/tide', proseVersion(tideOf(app))]]))], []);
  });
  changePaper(app, { paper_public: false });
  await press();
  assert.ok(!existsSync(file));
});

test('a press after a change of settings takes prose from the cache, however small the paper', async (t) => {
  const { app, read, press } = await aired(t);
  await press();
  await forgeProse(app);
  changePaper(app, { nameplate: 'The Quay Ledger' });
  await pressPapers(app, { cards: false });
  assert.match(read(PAGE), /The Quay Ledger[\s\S]*FORGED/);
});

test('entries that came to lie in many packs are put together', () => {
  const packs = packsInMemory();
  const cache = new PressCache(packs);
  const names = Array.from({ length: 9 }, (_, n) => `story/${n}`);
  for (const name of names) {
    const load = cache.load([name]);
    load.put(name, 'v', name);
    load.save();
  }
  assert.equal(new Set(packs.packs.values()).size, 9);
  const scattered = cache.load(names);
  for (const name of names) assert.equal(scattered.get(name, 'v')?.value, name);
  scattered.put('story/3', 'w', 'changed');
  scattered.save();
  assert.equal(new Set(packs.packs.values()).size, 1);
  const together = cache.load(names);
  assert.deepEqual(
    names.map((name) => (together.get(name, 'v') ?? together.get(name, 'w'))?.value),
    names.map((name, n) => (n === 3 ? 'changed' : name)),
  );
  // And many bytes in more than one.
  for (const name of names) together.put(name, 'x', name, Buffer.alloc(250_000, 7));
  together.save();
  assert.equal(new Set(packs.packs.values()).size, 2);
});

test('loads that are printed at the same time do not disturb each other', () => {
  const cache = new PressCache(packsInMemory());
  const first = cache.load(['a', 'b']);
  first.put('a', 'v', 'A');
  const second = cache.load(['c']);
  second.put('c', 'v', 'C');
  second.save();
  first.put('b', 'v', 'B');
  first.save();
  const [third, fourth] = [cache.load(['a', 'b']), cache.load(['c'])];
  assert.equal(third.get('a', 'v')?.value, 'A');
  assert.equal(fourth.get('c', 'v')?.value, 'C');
  fourth.save();
  assert.equal(third.get('b', 'v')?.value, 'B');
  third.save();
  const last = cache.load(['a', 'b', 'c']);
  assert.deepEqual(
    ['a', 'b', 'c'].map((name) => last.get(name, 'v')?.value),
    ['A', 'B', 'C'],
  );
  // What an output did not ask for goes.
  const none = cache.load(['a', 'b']);
  none.get('b', 'v');
  none.save();
  const left = cache.load(['a', 'b', 'c']);
  assert.deepEqual(
    ['a', 'b', 'c'].map((name) => left.get(name, 'v')?.value),
    [undefined, 'B', 'C'],
  );
});

test('prose is the same as text and as bytes, whatever it begins with', async (t) => {
  const prose = '\ufeffThe tide “was” late.[^1] 潮😀 [^2]\u2028';
  const { app } = await aired(t, { prose });
  const archive = app.store.archive(PAPER);
  const story = archive.load(['tide'], 3).stories.get('tide');
  assert.equal(story?.prose, tideOf(app).prose);
  assert.equal(Buffer.from(story?.prose_utf8 ?? []).toString(), tideOf(app).prose);
});
