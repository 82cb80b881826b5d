import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withdrawStory } from '../../src/desk/airing.ts';
import { newsstandView, paperAddresses } from '../../src/desk/press/newsstand.ts';
import { deskOf } from '../../src/server/context.ts';
import { demoPaper, PAPER } from '../support/demo-sources.ts';

const ORIGIN = 'http://papers.example';

test('the newsstand shows the top of a paper’s front, and nothing that left the air', async (t) => {
  const app = await demoPaper(t);
  const shown = () => newsstandView(app.store.desk, ORIGIN).papers[0] ?? assert.fail();
  const { url, pieces, lead, motif, others } = shown();
  assert.deepEqual([url, pieces, others.length], [`${ORIGIN}/${PAPER}/`, 2, 1]);
  assert.ok(lead !== null && lead.url.startsWith(`${url}stories/`));
  assert.ok(lead.image === null && motif !== null, 'a lead without a picture has a drawing');
  assert.deepEqual(paperAddresses(app.store.desk, ORIGIN), [{ nameplate: 'The Plumb Line', url }]);
  assert.deepEqual(newsstandView(app.store.desk, ORIGIN).fonts, [], 'Latin needs no other fonts');
  const slug = /stories\/([^/]+)\//.exec(lead.url)?.[1] ?? '';
  withdrawStory(deskOf(app), PAPER, slug, { by: 'cli', reason: 'It was wrong.' });
  const after = shown();
  assert.deepEqual([after.pieces, after.lead?.url, after.others], [1, others[0]?.url, []]);
});
