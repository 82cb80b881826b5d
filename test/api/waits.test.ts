import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tempFolder } from '../support/app-context.ts';
import { serve } from '../support/program.ts';
import { send } from '../support/send.ts';
import { enterPapers } from '../support/small-papers.ts';

/** How often a pair is measured anew: the machine may be busy. */
const TRIES = 8;
/** The share of a slow request for which any other caller may be kept waiting. */
const SHARE = 0.5;

test('while a hostile filing is read, goes on air and is pressed, other callers are answered', async (t) => {
  const folder = tempFolder(t);
  const keys = await enterPapers(folder, [{ slug: 'the-post' }]);
  const { url } = await serve(t, folder);
  const headers = { 'x-nrf-key': keys.get('the-post')?.admin ?? '' };
  const path = '/the-post/api/v1/stories';
  const piece = {
    headline: 'A very long list',
    dek: '',
    category: 'Tides',
    byline: 'vera-holm',
    prose: `One.[^1] Two.[^2]\n\n${'- *a*\n'.repeat(40_000)}`,
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
  await least('filing a draft', (n) => file({ prose: `${piece.prose}${n}` }));
  await least('a filing that is refused', (n) => file({ prose: `${'<b>x\n\n'.repeat(40_000)}${n}` }));
  await least('filing on air', (n) => file({ prose: `${piece.prose}on air ${n}`, air: true }));
  await least('going on air', async (n) => {
    const { text } = await file({ prose: `${piece.prose}later ${n}` });
    const { story } = JSON.parse(text) as { story: { id: string } };
    return send(url, { method: 'POST', path: `${path}/${story.id}/airing`, headers });
  });
});
