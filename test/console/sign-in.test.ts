import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { MAIL_LIFETIME, printedLink } from '../../src/desk/console/link.ts';
import { newKey } from '../../src/desk/papers/keys.ts';
import { makePaperKey, revokePaperKey } from '../../src/desk/papers/paper-keys.ts';
import { DAY, isoTime } from '../../src/proof/time.ts';
import { newId } from '../../src/shared/new-id.ts';
import { SESSION_IDLE_MAX } from '../../src/shared/session.ts';
import { forgetAhead } from '../../src/signing/clock/correct-clock.ts';
import { type ConsoleDesk, consoleDesk, ORIGIN, said, sentTo, tokenIn, type Visitor } from '../support/console-desk.ts';

describe('signing in to a console', () => {
  const endings: (() => unknown)[] = [];
  let desk: ConsoleDesk;
  const browser = (): Visitor => desk.visitor();
  before(async () => {
    desk = await consoleDesk({ after: (work) => void endings.unshift(work) }, [
      { slug: 'tides' },
      { slug: 'buoys' },
      { slug: 'quiet', isPublic: false },
      { slug: 'harbor', url: 'https://harbor.example' },
    ]);
  });
  after(async () => {
    for (const end of endings) await end();
  });

  describe('with a key', () => {
    it('a read and an admin key sign in; the cookie is the paper’s alone and no script’s', async () => {
      for (const level of ['read', 'admin'] as const) {
        const visitor = browser();
        const { status, headers } = await visitor.post('/tides/console/sign-in', { key: desk.keyOf('tides', level) });
        assert.deepEqual([status, headers.get('location')], [303, '/tides/console/']);
        assert.match(
          headers.get('set-cookie') ?? '',
          /^__Secure-console-tides=[\w-]{43}; Max-Age=2592000; Path=\/tides\/; HttpOnly; Secure; SameSite=Strict$/,
        );
        assert.equal(await sentTo(visitor), null);
      }
    });

    it('on a paper’s own domain the cookie is the host’s', async () => {
      const { headers } = await browser().post(
        'https://harbor.example/console/sign-in',
        { key: desk.keyOf('harbor', 'read') },
        { origin: 'https://harbor.example' },
      );
      assert.equal(headers.get('location'), '/console/');
      assert.match(headers.get('set-cookie') ?? '', /^__Host-console-harbor=.*; Path=\/; HttpOnly; Secure/);
    });

    it('an agent’s, another paper’s, an unknown, a mistyped and a revoked key are refused with the reason', async () => {
      const { key: revoked, made } = makePaperKey(desk.app, 'tides', { level: 'read', name: 'Gone' });
      revokePaperKey(desk.app, 'tides', made.id);
      const cases = {
        [desk.keyOf('tides', 'agent')]: /agent’s key.*cannot open the console; ask an admin of the paper for a seat/,
        [desk.keyOf('buoys', 'admin')]: /only works for buoys/,
        [newKey(randomBytes)]: /unknown; ask the paper’s admin/,
        nrf_short: /not a key.*copy it again, complete/,
        [revoked]: /revoked; ask the paper’s admin for another/,
        '': /not a key/,
      };
      for (const [key, reason] of Object.entries(cases)) {
        const visitor = browser();
        const { status, text } = await visitor.post('/tides/console/sign-in', { key });
        assert.equal(status, 401);
        assert.match(said(text), reason);
        assert.equal(visitor.cookies.size, 0);
        if (key !== '') assert.ok(!text.includes(key));
      }
    });

    it('ends with its key: revoked, expired, and when the clock is set back', async () => {
      const { key, made } = desk.seat('revoked@example.org');
      const visitor = await desk.signedIn(key);
      revokePaperKey(desk.app, 'tides', made.id);
      assert.match((await sentTo(visitor)) ?? '', /\/sign-in\?to=/);

      const expiring = desk.seat('expiring@example.org', 'read', 'tides', isoTime(desk.clock.now + DAY));
      const other = await desk.signedIn(expiring.key);
      const at = desk.clock.now;
      desk.clock.now += DAY;
      assert.notEqual(await sentTo(other), null);
      desk.clock.now = at;
      assert.notEqual(await sentTo(other), null);
    });

    it('ends unused; a clock that is set back does not revive it', async () => {
      const visitor = await desk.signedIn(desk.keyOf('tides', 'read'));
      const at = desk.clock.now;
      try {
        desk.clock.now += SESSION_IDLE_MAX - 1;
        assert.equal(await sentTo(visitor), null);
        desk.clock.now += SESSION_IDLE_MAX;
        assert.notEqual(await sentTo(visitor), null);
        desk.clock.now = at;
        assert.notEqual(await sentTo(visitor), null);
      } finally {
        desk.clock.now = at;
      }
    });

    it('of a clock that ran years ahead ends in time once the clock is right', async () => {
      const { database } = desk.app.store;
      const right = desk.clock.now;
      desk.clock.now = right + 1_000 * DAY;
      const browser = await desk.signedIn(desk.keyOf('tides', 'admin'));
      const link = { ...desk.app.store.desk, transact: database.transact };
      const by = { now: desk.clock.now, newId, random: randomBytes };
      const { token } = printedLink(link, 'tides', desk.app.store.desk.keys.list('tides')[0]?.id ?? '', by);
      desk.clock.now = right;
      database.transact(() => forgetAhead(desk.app.store, right));
      assert.equal(await sentTo(browser), null);
      desk.clock.now = right + 31 * DAY;
      assert.match((await sentTo(browser)) ?? '', /sign-in/);
      assert.equal((await browser.get(`/tides/console/enter?token=${token}`)).status, 404);
      desk.clock.now = right;
    });

    it('a cookie signs in to its own paper alone, and to no API route', async () => {
      const visitor = await desk.signedIn(desk.keyOf('tides', 'admin'));
      const [token = ''] = [...visitor.cookies.values()];
      const thief = browser();
      thief.cookies.set('__Secure-console-buoys', token);
      assert.notEqual(await sentTo(thief, '/buoys/console/sessions'), null);
      assert.equal((await visitor.get('/tides/api/v1/keys')).status, 401);
      assert.equal((await visitor.get('/quiet/', {})).status, 404);
    });

    it('signing in leads back to the page that was asked for, and nowhere else', async () => {
      const visitor = browser();
      const asked = await sentTo(visitor, '/tides/console/pieces?state=draft&q=a%20b');
      assert.equal(asked, '/tides/console/sign-in?to=%2Fconsole%2Fpieces%3Fstate%3Ddraft%26q%3Da%2520b');
      const to = new URL(asked ?? '', ORIGIN).searchParams.get('to') ?? '';
      assert.ok(
        (await visitor.get(asked ?? '')).text.includes('name="to" value="/console/pieces?state=draft&amp;q=a%20b"'),
      );
      const key = desk.keyOf('tides', 'read');
      const { headers } = await visitor.post('/tides/console/sign-in', { key, to });
      assert.equal(headers.get('location'), '/tides/console/pieces?state=draft&q=a%20b');
      const hostile = [
        '//evil.example/',
        '/console/../../buoys/console/',
        'https://evil.example/',
        '/console/..//..//evil.example',
        '/console\\evil',
        '/stories/',
        '/console/%2e%2e/',
      ];
      for (const to of hostile) {
        const { headers } = await browser().post('/tides/console/sign-in', { key, to });
        assert.equal(headers.get('location'), '/tides/console/', to);
      }
    });
  });

  describe('a form', () => {
    it('is accepted from the console’s own pages only', async () => {
      const key = desk.keyOf('tides', 'read');
      const from: Record<string, string>[] = [
        { origin: 'https://evil.example' },
        { origin: 'null' },
        {},
        { origin: ORIGIN, 'sec-fetch-site': 'cross-site' },
        { origin: ORIGIN, 'sec-fetch-site': 'same-site' },
        { 'sec-fetch-site': 'none' },
      ];
      for (const headers of from) {
        const visitor = browser();
        const { status, text } = await visitor.post('/tides/console/sign-in', { key }, headers);
        assert.equal(status, 403);
        assert.match(said(text), /not sent from a page of https:\/\/news\.example/);
        assert.equal(visitor.cookies.size, 0);
      }
    });

    it('of a session needs that session’s token', async () => {
      const [one, two] = [
        await desk.signedIn(desk.keyOf('tides', 'admin')),
        await desk.signedIn(desk.keyOf('tides', 'admin')),
      ];
      for (const form of ['', 'x', await two.formToken()]) {
        assert.equal((await one.post('/tides/console/sign-out', { form })).status, 403);
      }
      assert.equal(await sentTo(one), null);
      const form = await one.formToken();
      const out = await one.post('/tides/console/sign-out', { form });
      assert.deepEqual([out.status, out.headers.get('location')], [303, '/tides/console/sign-in']);
      assert.equal(one.cookies.size, 0);
      assert.equal((await browser().post('/tides/console/sign-out', { form })).status, 401);
    });

    it('a link on another site gets a page that asks again, since no cookie came along', async () => {
      const { status, headers } = await browser().get('/tides/console/', { 'sec-fetch-site': 'cross-site' });
      assert.deepEqual([status, headers.get('refresh')], [200, '0']);
    });
  });

  describe('by mail', () => {
    const ask = (email: string, paper = 'tides') => browser().post(`/${paper}/console/link`, { email });
    const linkFor = async (email: string): Promise<string> => {
      await ask(email);
      return (await desk.mailed()).find(({ to }) => to === email)?.path ?? assert.fail(`no mail to ${email}`);
    };

    it('the answer is the same for a seat, for nobody and for a revoked seat', async () => {
      desk.seat('ada@example.org');
      const gone = desk.seat('gone@example.org');
      revokePaperKey(desk.app, 'tides', gone.made.id);
      const texts = new Set<string>();
      for (const email of ['ada@example.org', 'who@example.org', 'gone@example.org', 'ADA@example.org']) {
        const { status, text } = await ask(email);
        assert.equal(status, 200);
        texts.add(text.replaceAll(email.toLowerCase(), '…'));
      }
      assert.equal(texts.size, 1);
      assert.deepEqual([...new Set((await desk.mailed()).map(({ to }) => to))], ['ada@example.org']);
      const rows = desk.app.store.desk.consoleSessions.list('tides', desk.clock.now);
      assert.ok(rows.every(({ began }) => began !== 'mail'));
      const bad = await ask('not an address');
      assert.deepEqual([bad.status, said(bad.text)], [400, 'This address has a blank or a control character in it.']);
    });

    it('opening the link changes nothing; its button signs in, once', async () => {
      desk.seat('bea@example.org', 'read');
      const path = await linkFor('bea@example.org');
      for (const method of ['GET', 'HEAD', 'GET']) {
        const { status, headers } = await browser().send(path, { method });
        assert.deepEqual([status, headers.get('set-cookie')], [200, null]);
        assert.equal(headers.get('referrer-policy'), 'same-origin');
      }
      assert.match((await browser().get(path)).text, /signs you in as <strong>bea@example\.org/);
      const visitor = browser();
      const { status, headers } = await visitor.post('/tides/console/enter', { token: tokenIn(path) });
      assert.deepEqual([status, headers.get('location')], [303, '/tides/console/']);
      assert.equal(await sentTo(visitor), null);
      const again = await browser().post('/tides/console/enter', { token: tokenIn(path) });
      assert.equal(again.status, 404);
      assert.match(said(again.text), /was used, has expired/);
      assert.equal((await browser().get(path)).status, 404);
      assert.equal((await browser().post('/buoys/console/enter', { token: tokenIn(path) })).status, 404);
    });

    it('of fifty uses at once, one signs in', async () => {
      desk.seat('cal@example.org');
      const token = tokenIn(await linkFor('cal@example.org'));
      const all = await Promise.all(
        Array.from({ length: 50 }, () => browser().post('/tides/console/enter', { token })),
      );
      assert.equal(all.filter(({ status }) => status === 303).length, 1);
      assert.equal(all.filter(({ status }) => status === 404).length, 49);
    });

    it('ends after 30 minutes, and with the seat', async () => {
      const { made } = desk.seat('dan@example.org');
      const at = desk.clock.now;
      const [late, revoked] = [tokenIn(await linkFor('dan@example.org')), tokenIn(await linkFor('dan@example.org'))];
      try {
        desk.clock.now += MAIL_LIFETIME;
        assert.equal((await browser().post('/tides/console/enter', { token: late })).status, 404);
      } finally {
        desk.clock.now = at;
      }
      revokePaperKey(desk.app, 'tides', made.id);
      assert.match(said((await browser().post('/tides/console/enter', { token: revoked })).text), /key was revoked/);
    });

    it('a seat gets three links in a quarter of an hour, and more once one was used or the time has passed', async () => {
      desk.seat('eve@example.org');
      for (let n = 0; n < 5; n++) await ask('eve@example.org');
      const links = await desk.mailed();
      assert.equal(links.length, 3);
      await browser().post('/tides/console/enter', { token: tokenIn(links[0]?.path ?? '') });
      assert.equal(
        (await browser().post('/tides/console/enter', { token: tokenIn(links[1]?.path ?? '') })).status,
        404,
      );
      await ask('eve@example.org');
      assert.equal((await desk.mailed()).length, 1);
    });
  });

  describe('to a private paper', () => {
    it('signed-out pages are those of a paper that does not exist', async () => {
      const form = { email: 'nobody@example.org' };
      const pages = (slug: string) => [
        browser().get(`/${slug}/console`),
        browser().get(`/${slug}/console/`),
        browser().get(`/${slug}/console/sign-in`),
        browser().get(`/${slug}/console/pieces/x`),
        browser().get(`/${slug}/console/enter?token=x`),
        browser().get(`/${slug}/console/first?token=x`),
        browser().get(`/${slug}/console/nothing`),
        browser().post(`/${slug}/console/link`, form),
        browser().post(`/${slug}/console/sign-in`, { key: newKey(randomBytes) }),
        browser().post(`/${slug}/console/sign-in`, { key: desk.keyOf('tides', 'admin') }),
        browser().post(`/${slug}/console/passkey`, { credential: '{}' }),
        browser().post(`/${slug}/console/sign-out`, {}),
        browser().post(`/${slug}/console/nothing`, {}),
      ];
      const [there, missing] = [await Promise.all(pages('quiet')), await Promise.all(pages('never'))];
      for (const [at, answer] of there.entries()) {
        const plain = (text: string) => text.replaceAll(/quiet|never/g, '…');
        const other = missing[at] ?? assert.fail();
        assert.deepEqual([answer.status, plain(answer.text)], [other.status, plain(other.text)], String(at));
        const headers = (all: Headers) =>
          [...all]
            .filter(([name]) => !/^(?:x-request-id|etag)$/.test(name))
            .map(([name, value]) => `${name}: ${plain(value)}`);
        assert.deepEqual(headers(answer.headers), headers(other.headers));
      }
      const visitor = await desk.signedIn(desk.keyOf('quiet', 'read'), 'quiet');
      assert.match((await visitor.get('/quiet/console/sessions')).text, /The Tide Table/);
    });
  });
});
