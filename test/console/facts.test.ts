import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { tempFolder } from '../support/app-context.ts';
import { type Seat, seatAt } from '../support/console-seat.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers, storyBody } from '../support/small-papers.ts';

const PAPER = 'tide-table';
/** Every story of a small paper cites it. */
const KEY = 'sp811-another';
const MARKUP = 'It is <b>less</b> than <script>alert(1)</script>.';

describe('the fact record in the console', () => {
  const endings: (() => unknown)[] = [];
  let seat: Seat;
  let reader: Seat;
  const order = {
    version: '1',
    statement: MARKUP,
    source: 'NIST',
    instrument: 'SP 811',
    quote: '',
    status: 'corrected',
  };

  before(async () => {
    const scope = { after: (work: () => unknown) => void endings.unshift(work) } as never;
    const folder = tempFolder(scope);
    const admin = (await enterPapers(folder, [{ slug: PAPER }])).get(PAPER)?.admin ?? '';
    const { url } = await serveHere(scope, folder, { CARDS: 'off' });
    seat = seatAt(url, folder, PAPER, 'admin');
    reader = seatAt(url, folder, PAPER, 'read');
    const { cited_facts, ...body } = storyBody('near');
    const facts = [cited_facts[0], { ...cited_facts[1], statement: 'Another is so, too.', claim_key: undefined }];
    const response = await fetch(`${url}/${PAPER}/api/v1/stories`, {
      method: 'POST',
      headers: { 'x-nrf-key': admin, 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, cited_facts: facts }),
    });
    assert.equal(response.status, 201, await response.clone().text());
  });
  after(async () => {
    for (const end of endings) await end();
  });

  it('lists facts by words, publisher and status', async () => {
    const link = `/console/facts/${KEY}"`;
    for (const query of ['', '?q=another', '?source=nist', '?status=standing', '?q=sp811'])
      assert.ok((await seat.get(`facts${query}`)).html.includes(link), query);
    for (const query of ['?q=nowhere', '?source=IHO', '?status=retracted', '?q=%00', '?after=1', '?after=x&q=...'])
      assert.ok((await seat.get(`facts${query}`)).status === 200, query);
    assert.equal((await seat.get('facts/no-such-fact')).status, 404);
    assert.equal((await seat.get('facts/No%00')).status, 404);
  });

  it('says which fact a source without a key may be, in the editor and beside the piece', async () => {
    const drafts = (await seat.get('pieces?state=draft')).html;
    const id = /pieces\/(\w+)"[^>]*>What near means/.exec(drafts)?.[1] ?? '';
    assert.match((await seat.get(`pieces/${id}`)).html, /The record has <a[^>]*>sp811-another<\/a>/);
    const form = new FormData();
    for (const [name, value] of Object.entries({ do: 'check', headline: 'One', dek: 'Two.', category: 'Tides' }))
      form.set(name, value);
    form.set('prose', 'So.[^1]');
    for (const [name, value] of [
      ['statement', 'Another is so too.'],
      ['source', 'NIST'],
      ['instrument', 'SP 811'],
      ['claim_key', ''],
    ] as const)
      form.set(`fact_${name}`, value);
    const { html } = await seat.post('write', form);
    assert.match(html, /The fact record may have it already[\s\S]*Source 1[\s\S]*“Another is so\.”/);
  });

  it('refuses a correction of an older version, and keeps what was typed', async () => {
    const refused = await seat.post(`facts/${KEY}/correct`, { ...order, version: '7', note: 'A misprint.' });
    assert.equal(refused.status, 409);
    assert.match(refused.html, /Version 7 of sp811-another is not the newest[\s\S]*&lt;b&gt;less/);
    const empty = await seat.post(`facts/${KEY}/correct`, { ...order, statement: '', note: '' });
    assert.equal(empty.status, 400, empty.html.slice(0, 300));
  });

  it('corrects with a note, shows every piece that says otherwise, and Today does', async () => {
    const html = await seat.done(`facts/${KEY}/correct`, { ...order, note: 'A misprint.' });
    assert.match(html, /Version 2 is signed/);
    assert.equal(html.match(/cites version 1/g)?.length, 4);
    assert.doesNotMatch(html, /<script>alert/);
    const today = (await seat.get('')).html;
    assert.match(today, /Facts to be revised[\s\S]*less[\s\S]*3 pieces on air say otherwise/);
    assert.match((await seat.get('activity')).html, /corrected the fact/);
    const piece = /pieces\/(\w+)"[^>]*>What high water means/.exec((await seat.get('pieces')).html)?.[1] ?? '';
    assert.match((await seat.get(`pieces/${piece}`)).html, /Corrected since/);
  });

  it('retracts, and takes a retraction back', async () => {
    const html = await seat.done(`facts/${KEY}/retract`, { version: '2', note: 'Nobody measured it.' });
    assert.match(html, /Retracted: nothing can be filed with it any more\.[\s\S]*Take the retraction back/);
    assert.doesNotMatch(html, /facts\/sp811-another\/retract"/);
    const back = await seat.done(`facts/${KEY}/return`, { version: '3', note: 'It was a mistake.' });
    assert.match(back, /It is valid again, as version 4/);
  });

  it('shows a read seat everything and lets it do nothing', async () => {
    const { html } = await reader.get(`facts/${KEY}`);
    assert.match(html, /cites version 1/);
    assert.doesNotMatch(html, /<main[\s\S]*method="post"/);
    for (const action of ['correct', 'retract', 'return'])
      assert.equal((await reader.post(`facts/${KEY}/${action}`, { ...order, version: '4', note: 'No.' })).status, 403);
    assert.match((await reader.get(`facts/${KEY}`)).html, /version 4</);
  });
});
