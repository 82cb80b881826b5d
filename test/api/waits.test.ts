import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tempFolder } from '../support/app-context.ts';
import { send } from '../support/send.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

/** How often a pair is measured anew: the machine may be busy. */
const TRIES = 8;
/** The share of a slow request for which any other caller may be kept waiting. */
const SHARE = 0.5;

test('while a hostile filing is aired and pressed, other callers are answered', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  const keys = await enterPapers(folder, [{ slug: 'the-post' }]);
  const { url } = await serveHere(t, folder);
  const headers = { 'x-nrf-key': keys.get('the-post')?.admin ?? '' };
  const path = '/the-post/api/v1/stories';
  const piece = {
    headline: 'A very long list',
    dek: '',
    category: 'Tides',
    byline: 'vera-holm',
    prose: `One.[^1] Two.[^2]\n\n${'- *a*\n'.repeat(9_900)}`,
    cited_facts: ['A', 'B'].map((source) => ({ statement: 'So.', source, instrument: 'A book' })),
  };

  /** What a request came to, and the share of its time that the most patient of all other callers waited. */
  const beside = async (work: Promise<{ status: number; text: string }>) => {
    const began = performance.now();
    let isDone = false;
    const ended = work.finally(() => {
      isDone = true;
    });
    let longest = 0;
    while (!isDone) {
      const asked = performance.now();
      assert.equal((await send(url, { path: '/health' })).status, 200);
      longest = Math.max(longest, performance.now() - asked);
    }
    return { ...(await ended), share: longest / (performance.now() - began) };
  };
  const least = async (what: string, ask: (n: number) => Promise<{ status: number; text: string }>) => {
    const shares: number[] = [];
    for (let n = 0; n < TRIES; n++) {
      const { status, text, share } = await beside(ask(n));
      assert.ok(status === 200 || status === 201 || status === 422, text.slice(0, 400));
      shares.push(share);
      if (share < SHARE) return;
    }
    assert.fail(`${what} kept others waiting for ${shares.map((share) => share.toFixed(2)).join(', ')} of its time`);
  };

  const file = (more: object) => send(url, { method: 'POST', path, headers, body: { ...piece, ...more } });
  // Under load, too: what is refused depends on the text alone.
  const heavy = { prose: '<b>x\n\n'.repeat(57_000) };
  const refusals = await Promise.all(Array.from({ length: 4 }, () => file(heavy)));
  assert.deepEqual(
    refusals.map(({ status }) => status),
    [422, 422, 422, 422],
  );
  assert.equal(new Set(refusals.map(({ text }) => text)).size, 1);
  assert.match(refusals[0]?.text ?? '', /too_many_lines.*113999 lines are more than 10000/);
  await least('filing on air', (n) => file({ prose: `${piece.prose}on air ${n}`, air: true }));
  if (ONLY_WIDE !== false) return;
  await least('going on air', async (n) => {
    const { text } = await file({ prose: `${piece.prose}later ${n}` });
    const { story } = JSON.parse(text) as { story: { id: string } };
    return send(url, { method: 'POST', path: `${path}/${story.id}/airing`, headers });
  });
});
