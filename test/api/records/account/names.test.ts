import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pino from 'pino';
import { MISSING_FOR, RECHECK_EVERY } from '../../../../src/records/accounts/owner.ts';
import { startOwnerChecks } from '../../../../src/records/jobs/owner-checks.ts';
import { type AccountStand, accountStand, pathOf, Visitor } from '../../../support/account-fixture.ts';
import { type OwnerZone, ownerZone } from '../../../support/owner-zone.ts';
import { probe } from '../../../support/probes.ts';
import { until } from '../../../support/program.ts';
import { parsed } from '../../../support/smtp.ts';

const PAGE = '/account/names/example.com';
const said = (html: string) =>
  html
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('&quot;', '"');

describe('the pages of a name', () => {
  let stand: AccountStand;
  let zone: OwnerZone;
  let visitor: Visitor;
  let other: Visitor;
  const endings: (() => unknown)[] = [];
  const scope = { after: (work: () => unknown) => void endings.unshift(work) };
  /** Sends a form of a page, and returns what the next page says. */
  const submit = async (action: string, fields: Record<string, string> = {}, from = PAGE) => {
    const { headers, text } = await visitor.submit(from, action, fields);
    return said(headers.location === undefined ? text : (await visitor.get(String(headers.location))).text);
  };

  before(async () => {
    zone = await ownerZone(scope);
    stand = await accountStand(scope, { RESOLVERS: `127.0.0.1:${zone.port}`, TLS_PRIVATE: '127.0.0.0/8' });
    [visitor, other] = [await stand.signIn('ada@example.org'), await stand.signIn('ben@example.org')];
    const { clock, enter } = stand;
    for (const address of ['192.0.2.1', '192.0.2.2']) enter(probe('example.com', clock.now, { A: [address] }));
  });
  after(async () => {
    for (const end of endings) await end();
  });

  it('walk through a proof, with the record and the file to copy', async () => {
    const names = await submit('/account/names', { hostname: 'co.uk' }, '/account/names');
    assert.match(names, /co\.uk is a public suffix/i);
    const begun = await visitor.submit('/account/names', '/account/names', { hostname: ' Example.COM ' });
    assert.equal(pathOf(begun), PAGE);
    const page = await visitor.get(PAGE);
    assert.match(said(page.text), /_broadsheet\.example\.com .* TXT .* broadsheet-verification=[\w-]{43}/);
    assert.match(page.text, /https:\/\/example\.com\/\.well-known\/broadsheet-verification/);
    assert.doesNotMatch(page.text, /Look now|Put a note/);
    assert.match(await submit(`${PAGE}/check`), /was not found yet: .* there is no such name in the DNS/);
    const [text = ''] = /broadsheet-verification=[\w-]{43}/.exec(page.text) ?? [];
    zone.txt.set('_broadsheet.example.com', [text]);
    zone.a.set('example.com', ['127.0.0.1']);
    assert.match(await submit(`${PAGE}/check`), /is proven to be yours\. Its changes are mailed to you/);
    assert.equal((await other.get(PAGE)).status, 404, 'another account has nothing of it');
  });

  it('look, note, opt and give up, by forms of the session alone', async () => {
    assert.match(
      await submit(`${PAGE}/look`, { hostname: 'example.com' }),
      /A changed: 192\.0\.2\.2 → 127\.0\.0\.1\. Immediate observations left today: 4\./,
    );
    assert.match(await submit(`${PAGE}/look`, { hostname: 'other.example' }), /other\.example is not proven/i);
    const note = `${PAGE}/changes/1/note`;
    assert.match(await submit(note, { note: 'x'.repeat(281) }), /Note has 281 characters, and at most 280 are shown/);
    assert.match(await submit(note, { note: '<script>alert(1)</script>' }), /Your note stands beside change 1/);
    const shown = await visitor.get('/t/example.com');
    assert.match(shown.text, /<bdi>&lt;script&gt;alert\(1\)&lt;\/script&gt;<\/bdi>/);
    assert.match(await submit(`${note}/remove`), /Your note on change 1 is removed/);
    assert.match(await submit(`${PAGE}/opt`, { opt: 'sideways' }), /opt/i);
    assert.match(
      await submit(`${PAGE}/opt`, { opt: 'out' }),
      /neither observed nor shown from now on.*You opted example\.com out/,
    );
    assert.equal((await visitor.get('/t/example.com')).status, 404);
    assert.match(await submit(`${PAGE}/opt`, { opt: 'in' }), /is opted in/);
    assert.equal((await visitor.get('/t/example.com')).status, 200);

    const token = /name="form" value="([^"]*)"/.exec((await other.get('/account/names')).text)?.[1] ?? '';
    const before = stand.app.store.records.owners.all();
    for (const action of ['check', 'look', 'opt', 'give-up', 'changes/1/note', 'changes/1/note/remove']) {
      const forged = await visitor.post(`${PAGE}/${action}`, { form: token, note: 'x', opt: 'out' });
      assert.equal(forged.status, 403, action);
      const stranger = await new Visitor(stand.url, 'https://evil.example', visitor.cookie).post(
        `${PAGE}/${action}`,
        {},
      );
      assert.equal(stranger.status, 403, action);
    }
    assert.deepEqual(stand.app.store.records.owners.all(), before);
  });

  it('mail that a proof is missing, and that it has ended', async () => {
    const { app, clock, smtp } = stand;
    const silent = pino({ level: 'silent' });
    const subjects = async () => (await Promise.all(smtp.taken.map(parsed))).map(({ subject }) => subject ?? '');
    const told = (words: RegExp) =>
      until(async () => ((await subjects()).some((subject) => words.test(subject)) ? true : null));
    zone.txt.clear();
    clock.now += RECHECK_EVERY;
    let stop = startOwnerChecks(app, silent);
    await told(/^example\.com: the proof that it is yours is missing$/);
    await stop();
    clock.now += MISSING_FOR;
    stop = startOwnerChecks(app, silent);
    await told(/^example\.com: the proof that it is yours has ended$/);
    await stop();
    // The session has ended meanwhile.
    visitor = await stand.signIn('ada@example.org');
    assert.match(said((await visitor.get(PAGE)).text), /not proven .* The proof ended/);
    assert.equal((await subjects()).filter((subject) => subject.startsWith('example.com: ')).length, 2);
    assert.match(await submit(`${PAGE}/give-up`), /is given up/);
    const { names, notes } = JSON.parse((await visitor.get('/account/export.json')).text);
    assert.deepEqual([names, notes], [[], []]);
  });
});
