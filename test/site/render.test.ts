import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadBuild } from '../../src/desk/press/build.ts';
import type { EmbedView } from '../../src/desk/press/views.ts';

const { render } = await loadBuild();

const view: EmbedView = {
  withdrawn_at: null,
  language: 'en',
  hue: 230,
  nameplate: 'The Plumb Line',
  root_absolute: 'https://news.example/plumb/',
  story_absolute: 'https://news.example/plumb/stories/tide/',
  headline: 'Tide',
  dek: '',
  category: 'City',
  writer: null,
  provenance: null,
  byline: { name: 'Ada Quill', title: 'Reporter' },
  published_at: '2026-11-21T07:06:00.000Z',
  image: null,
  motif: null,
};

test('pages printed at the same time show each its own view', async () => {
  const headlines = Array.from({ length: 20 }, (_, index) => `Tide number ${index}`);
  const pages = await Promise.all(headlines.map((headline) => render('/paper/embed', { ...view, headline })));
  for (const [index, page] of pages.entries()) assert.match(page, new RegExp(`<title>Tide number ${index} —`));
});

test('a page that cannot be printed throws its own error', async () => {
  const broken = { ...view, published_at: 'no time' };
  await assert.rejects(render('/paper/embed', broken), RangeError);
  const unknown = '/paper/no-such-page' as '/paper/embed';
  await assert.rejects(render(unknown, view));
});
