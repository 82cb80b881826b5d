import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import sharp from 'sharp';
import { fileStory } from '../../../src/desk/file-story.ts';
import { contentHash } from '../../../src/proof/basis.ts';
import { verifyNode } from '../../../src/proof/ed25519.ts';
import { proofFaults, proofOf } from '../../../src/proof/proof.ts';
import { deskOf } from '../../../src/server/context.ts';
import { appContextIn, tempFolder } from '../../support/app-context.ts';
import { fetchOf, importHere, SITE, wxr } from './archives.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');

test('an export of WordPress comes in with its dates, authors, pictures and addresses, and only once', async (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: NOW });
  const file = join(folder, 'quay.xml');
  const png = await sharp({ create: { width: 40, height: 30, channels: 3, background: '#336699' } })
    .png()
    .toBuffer();
  writeFileSync(
    file,
    wxr(
      {
        title: 'Two ferries &amp; one quay',
        html: `Old post, <b>two</b> lines\nof it.\n\n[caption id="attachment_2" width="300"]<img class="size-medium wp-image-2" src="${SITE}/wp-content/uploads/quay-300x200.png" alt="The quay" /> At dusk[/caption]\n\n<a href="/2018/other/">Another</a>. <script>alert(1)</script>`,
        categories: ['News', 'Harbour'],
        tags: ['Ferries'],
        thumbnail: '2',
      },
      {
        title: 'Quay',
        type: 'attachment',
        status: 'inherit',
        id: 2,
        name: 'quay',
        attachment: `${SITE}/wp-content/uploads/quay.png`,
      },
      {
        title: 'Block',
        name: 'block',
        html: '<!-- wp:paragraph -->\n<p>Text</p>\n<!-- /wp:paragraph -->\n\n<!-- wp:image --><figure class="wp-block-image"><img src="https://gone.example/x.png" alt=""/></figure><!-- /wp:image -->',
      },
      { title: 'Not yet', name: '', status: 'draft', date: '0000-00-00 00:00:00', html: 'A draft.' },
      { title: 'Hidden', name: 'hidden', password: 'x' },
      { title: 'About', name: 'about', type: 'page' },
      { title: 'Bin', name: 'bin', status: 'trash' },
      { title: 'By nobody', name: 'nobody', creator: '', categories: [] },
    ),
  );
  const asked: string[] = [];
  const fetch = fetchOf({ [`${SITE}/wp-content/uploads/quay.png`]: png }, asked);
  const mapping = { sections: { Harbour: 'News' }, authors: {}, section: 'Notes' };

  const dry = await importHere(app, file, { dryRun: true, mapping });
  assert.deepEqual([dry.filed, dry.skipped, dry.refused], [5, 2, []]);
  assert.equal(app.store.desk.hasPaper('quay'), false, 'a dry run creates nothing');
  assert.deepEqual([...app.store.desk.entries()], []);

  const first = await importHere(app, file, { fetch, mapping });
  assert.deepEqual([first.filed, first.unchanged, first.skipped, first.refused], [5, 0, 2, []]);
  assert.deepEqual(first.notes, [
    'Two ferries & one quay: a script was left out',
    'Block: the picture "https://gone.example/x.png" was left out (status 404)',
    'About: is skipped: it is a page; write it as a file of pages/ if the paper needs it',
    'Bin: is skipped: its status is "trash"',
  ]);
  const archive = app.store.desk.archive('quay');
  const story = archive.storyBySlug('two-ferries');
  assert.ok(story);
  const picture = story.image?.src ?? '';
  assert.match(picture, /^media\/archive\/quay-[0-9a-f]{8}\.png$/);
  assert.equal(
    story.prose,
    `Old post, **two** lines\\\nof it.\n\n![The quay](${picture} "At dusk")\n\n[Another](${SITE}/2018/other/).`,
  );
  assert.deepEqual(
    [story.headline, story.state, story.published_at, story.category, story.tags, story.authors, story.aliases],
    [
      'Two ferries & one quay',
      'on_air',
      Date.parse('2019-05-20T10:00:00Z'),
      'News',
      ['News', 'Ferries'].slice(1),
      [{ name: 'Ann Lee' }],
      ['/2019/05/two-ferries'],
    ],
  );
  assert.equal(story.provenance, 'archive');
  assert.equal(archive.storyBySlug('not-yet')?.state, 'draft');
  assert.deepEqual([archive.storyBySlug('hidden')?.state, archive.storyBySlug('hidden')?.provenance], ['draft', null]);
  const nobody = archive.storyBySlug('nobody');
  assert.deepEqual([nobody?.authors, nobody?.category], [[{ name: 'The Old Quay' }], 'Notes']);

  const entries = [...app.store.desk.entries()].length;
  const again = await importHere(app, file, { fetch, mapping });
  assert.deepEqual([again.filed, again.unchanged, again.refused], [0, 5, []]);
  assert.equal([...app.store.desk.entries()].length, entries, 'a second run changes nothing');
  assert.equal(asked.filter((address) => address.includes('quay')).length, 1, 'a picture is fetched once');
});

test('what is signed says that a piece is from an archive, and both parts of a proof must agree on it', async (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: NOW });
  const file = join(folder, 'quay.xml');
  writeFileSync(file, wxr({}));
  await importHere(app, file);
  const archive = app.store.desk.archive('quay');
  const piece = archive.piece(archive.storyBySlug('two-ferries')?.id ?? '');
  assert.ok(piece);
  const proof = proofOf(piece, {
    generations: archive.generations(piece.id),
    keys: archive.keys(),
    keysUrl: '',
    log: null,
  });
  assert.equal(proof.basis.provenance, 'archive');
  assert.match(proof.hash_basis, /provenance/);
  assert.deepEqual(proofFaults(proof, verifyNode), []);
  const { provenance: _, ...checked } = proof.basis;
  assert.deepEqual(proofFaults({ ...proof, basis: checked }, verifyNode), [
    'content_hash is not the hash of basis: the piece was altered',
  ]);
  const odd = { ...proof.basis, provenance: 'checked' };
  assert.match(
    proofFaults({ ...proof, basis: odd, content_hash: contentHash(odd) }, verifyNode)[0] ?? '',
    /basis\.provenance is not archive/,
  );

  assert.throws(
    () => fileStory(deskOf(app), 'quay', piece, { by: 'key:abc' }),
    /key:abc filed a piece as of an archive/,
  );
});

test('a piece that the desk has made its own is left alone, and no import takes its place', async (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: NOW });
  const file = join(folder, 'quay.xml');
  writeFileSync(file, wxr({}, { name: 'later', title: 'Later', status: 'draft' }));
  await importHere(app, file);
  const archive = app.store.desk.archive('quay');
  const old = archive.piece(archive.storyBySlug('two-ferries')?.id ?? '');
  assert.ok(old);
  // A revision by the desk is a text of the desk: it needs what any other needs.
  const revised = { ...old, provenance: null, prose: 'Ours.' };
  assert.throws(() => fileStory(deskOf(app), 'quay', revised, { by: 'cli' }), /distinct publisher/);
  const cited = [1, 2].map((n) => ({ n, statement: 'So.', source: `P${n}`, instrument: `D${n}`, claim_key: null }));
  fileStory(deskOf(app), 'quay', { ...revised, prose: 'Ours.[^1][^2]', cited_facts: cited }, { by: 'cli' });
  assert.equal(archive.storyBySlug('two-ferries')?.provenance, null);
  const again = await importHere(app, file);
  assert.deepEqual([again.filed, again.unchanged, again.refused], [0, 2, []]);
  assert.equal(archive.storyBySlug('two-ferries')?.prose, 'Ours.[^1][^2]');

  fileStory(
    deskOf(app),
    'quay',
    { ...revised, slug: 'own', aliases: [], cited_facts: cited, prose: 'Ours.[^1][^2]' },
    { by: 'cli' },
  );
  writeFileSync(file, wxr({ name: 'own' }));
  const { refused } = await importHere(app, file);
  assert.deepEqual(refused, [
    'own line: the paper has a piece of its own with the slug "own"; give the piece of the archive another slug',
  ]);
});
