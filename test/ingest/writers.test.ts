import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { creditedWriter } from '../../src/desk/door/writers.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { importArchive, joinedAuthors } from '../../src/desk/ingest/import-archive.ts';
import { exportLedger } from '../../src/desk/ingest/ledger-export.ts';
import { importLedger } from '../../src/desk/ingest/ledger-import.ts';
import { deskOf, intakeOf } from '../../src/server/context.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { START } from '../support/pressed-paper.ts';

const line = (slug: string, more: object = {}) => ({
  slug,
  headline: `About ${slug}`,
  section: 'Sea',
  published_at: '2019-05-20T00:00:00Z',
  prose: 'One.[^1] Two.[^2]',
  cited_facts: [
    { statement: 'One.', source: 'NIST', instrument: 'FIPS 180-4' },
    { statement: 'Two.', source: 'IETF', instrument: 'RFC 2119' },
  ],
  origin: 'example.org/a.md',
  ...more,
});

test('a credit names a writer only in the form in which imports write it', () => {
  for (const [credit, writer] of [
    ['Written by Ann Lee.', 'Ann Lee'],
    ['Written by J. R. Smith. First published at x.org. Licence: CC0.', 'J. R. Smith'],
    ['Written by Ann Lee, Bo Ray, and Carl St. John. Licence: CC BY 4.0.', 'Ann Lee, Bo Ray, and Carl St. John'],
    ['Written by Ann Lee. The mark-up was changed: links were turned into numbered sources.', 'Ann Lee'],
    ['First published at x.org.', null],
    ['Written by Ann Lee, with thanks', null],
    ['After a text that was Written by Ann Lee.', null],
    [null, null],
  ] as const) {
    assert.equal(creditedWriter(credit), writer, credit ?? 'none');
  }
});

test('an import files the writers, and none twice for what an earlier version filed without them', async (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: START });
  const file = join(folder, 'archive.jsonl');
  const importLines = async (...lines: object[]) => {
    writeFileSync(file, lines.map((one) => `${JSON.stringify(one)}\n`).join(''));
    const { filed, unchanged, refused } = await importArchive(intakeOf(app), file, {
      paper: 'quay',
      create: true,
      air: true,
    });
    return { filed, unchanged, refused };
  };
  const authors = ['Ann Lee', { name: 'Bo Ray', url: 'https://bo.example/' }, { name: 'Cy', url: 'javascript:0' }];
  const listed = [{ name: 'Ann Lee' }, { name: 'Bo Ray', url: 'https://bo.example/' }, { name: 'Cy' }];
  const many = Array.from({ length: 60 }, (_, n) => `Person Number ${n}`);
  const lines = [
    line('two', { authors, tags: ['Tides', 'tides'] }),
    line('given', { authors, written_by: 'Bo Ray' }),
    line('many', { authors: many }),
    line('none'),
  ];
  assert.deepEqual(await importLines(...lines), { filed: 4, unchanged: 0, refused: [] });
  const archive = app.store.desk.archive('quay');
  const filed = (slug: string) => archive.piece(archive.storyBySlug(slug)?.id ?? '');
  assert.deepEqual(filed('two')?.authors, listed);
  assert.equal(filed('two')?.written_by, null);
  assert.deepEqual(filed('two')?.tags, ['Tides']);
  assert.equal(filed('given')?.written_by, 'Bo Ray');
  assert.deepEqual(filed('given')?.authors, []);
  assert.deepEqual(
    filed('many')?.authors,
    many.slice(0, 20).map((name) => ({ name })),
  );
  assert.match(filed('many')?.credit ?? '', /Person Number 0, .*, and Person Number 59\./);
  assert.deepEqual(filed('none')?.authors, []);
  assert.deepEqual(await importLines(...lines), { filed: 0, unchanged: 4, refused: [] });

  // As earlier versions filed them: the authors are in the credit alone, and are shown from there, or in one line.
  const two = filed('two');
  assert.ok(two);
  for (const written_by of [null, 'Ann Lee, Bo Ray, and Cy']) {
    fileStory(deskOf(app), 'quay', { ...two, authors: [], written_by }, { by: 'cli' });
    assert.deepEqual(archive.storyBySlug('two')?.writers, [{ name: 'Ann Lee, Bo Ray, and Cy' }]);
    assert.deepEqual(await importLines(...lines), { filed: 0, unchanged: 4, refused: [] });
  }
  const first = filed('many');
  assert.ok(first);
  fileStory(deskOf(app), 'quay', { ...first, authors: [], written_by: joinedAuthors(many, 'en') }, { by: 'cli' });
  assert.match(filed('many')?.written_by ?? '', /^Person Number 0, .* et al\.$/);
  assert.deepEqual(await importLines(...lines), { filed: 0, unchanged: 4, refused: [] });
  const others = line('many', { authors: many.slice(1) });
  assert.equal((await importLines(others)).filed, 1, 'other authors are a revision');
  assert.equal(filed('many')?.authors[0]?.name, 'Person Number 1');
  const given = line('two', { authors, written_by: 'Ann Lee', tags: ['Tides'] });
  assert.equal((await importLines(given)).filed, 1, 'a line that names its writer is a revision');

  // The ledger carries both, into another database.
  const copy = join(folder, 'ledger.jsonl');
  await exportLedger(intakeOf(app), copy);
  const other = appContextIn(t, tempFolder(t), { now: START });
  await importLedger(intakeOf(other), copy);
  const there = other.store.desk.archive('quay');
  for (const slug of ['two', 'given', 'many', 'none']) {
    const id = archive.storyBySlug(slug)?.id ?? '';
    assert.deepEqual(there.revisions(id), archive.revisions(id));
  }
  assert.deepEqual(there.tags({ limit: 9 }), [{ slug: 'tides', name: 'Tides', count: 1 }]);
});
