import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { FIRST_LIFETIME, printedLink } from '../../src/desk/console/link.ts';
import type { AccessKey } from '../../src/desk/papers/keys.ts';
import { revokePaperKey } from '../../src/desk/papers/paper-keys.ts';
import { MINUTE } from '../../src/proof/time.ts';
import { newId } from '../../src/shared/new-id.ts';
import { Authenticator } from '../support/authenticator.ts';
import { type ConsoleDesk, consoleDesk, ORIGIN, said, sentTo, type Visitor } from '../support/console-desk.ts';

describe('seats of a console', () => {
  const endings: (() => unknown)[] = [];
  let desk: ConsoleDesk;
  const browser = (): Visitor => desk.visitor();
  before(async () => {
    desk = await consoleDesk({ after: (work) => void endings.unshift(work) }, [
      { slug: 'tides' },
      { slug: 'buoys' },
      { slug: 'fresh' },
      { slug: 'newer', isPublic: false },
    ]);
  });
  after(async () => {
    for (const end of endings) await end();
  });

  describe('the first one', () => {
    const print = (paper: string, key: string | null = null): string => {
      const { store } = desk.app;
      const tables = { ...store.desk, transact: store.database.transact };
      return printedLink(tables, paper, key, { now: desk.clock.now, newId, random: randomBytes }).token;
    };
    const take = (paper: string, token: string, fields: Record<string, string> = {}) =>
      browser().post(`/${paper}/console/first`, { token, name: 'Ada', email: 'ada@example.org', ...fields });

    it('a newer link ends the one before, and a week ends it', async () => {
      const [old, token] = [print('fresh'), print('fresh')];
      const ended = await browser().get(`/fresh/console/first?token=${old}`);
      assert.equal(ended.status, 404);
      assert.match(said(ended.text), /a newer one was printed.*broadsheet -- seat link/);
      assert.equal((await browser().get(`/fresh/console/first?token=${token}`)).status, 200);
      assert.equal((await browser().get(`/buoys/console/first?token=${token}`)).status, 404);
      assert.equal((await browser().get(`/fresh/console/enter?token=${token}`)).status, 404);
      const at = desk.clock.now;
      desk.clock.now += FIRST_LIFETIME;
      assert.equal((await take('fresh', token)).status, 404);
      desk.clock.now = at;
    });

    it('a form with a mistake says which, and leaves the link as it is', async () => {
      const token = print('fresh');
      for (const [fields, problem] of [
        [{ name: '' }, 'The name is missing.'],
        [{ email: 'ada' }, 'It must be the mail address of the person who sits there.'],
        [{ email: '' }, 'The mail address is missing.'],
      ] as const) {
        const { status, text } = await take('fresh', token, fields);
        assert.deepEqual([status, said(text)], [400, problem]);
      }
      assert.equal(desk.app.store.desk.keys.everSeated('fresh'), false);
    });

    it('of ten who take it at once one gets it, with its key, signed in; then the link has ended', async () => {
      const token = print('fresh');
      const all = await Promise.all(
        Array.from({ length: 10 }, (_, n) => take('fresh', token, { email: `ada${n}@example.org` })),
      );
      const won = all.filter(({ status }) => status === 201);
      assert.equal(won.length, 1);
      assert.equal(all.filter(({ status }) => status === 404).length, 9);
      const seats = desk.app.store.desk.keys.list('fresh').filter(({ seat }) => seat !== null);
      assert.deepEqual(
        seats.map(({ level, name, made_by }) => [level, name, made_by?.startsWith('link:')]),
        [['admin', 'Ada', true]],
      );
      const [key = ''] = /nrf_\w{43}/.exec(won[0]?.text ?? '') ?? [];
      await desk.signedIn(key, 'fresh');
      assert.match(won[0]?.headers.get('set-cookie') ?? '', /^__Secure-console-fresh=/);
      const late = await browser().get(`/fresh/console/first?token=${token}`);
      assert.match(said(late.text), /has ended, because the paper has a seat/);
    });

    it('who lost access gets a link that signs in once, on a private paper too', async () => {
      const { made } = desk.seat('flo@example.org', 'read', 'newer');
      const token = print('newer', made.id);
      const visitor = browser();
      assert.match((await visitor.get(`/newer/console/enter?token=${token}`)).text, /flo@example\.org/);
      assert.equal((await visitor.post('/newer/console/enter', { token })).status, 303);
      assert.match((await visitor.get('/newer/console/sessions')).text, /by a printed link/);
      assert.equal((await browser().post('/newer/console/enter', { token })).status, 404);
    });
  });

  describe('their sessions', () => {
    const page = '/buoys/console/sessions';
    const idsIn = (text: string) => [...text.matchAll(/name="id" value="([^"]+)"/g)].map(([, id]) => id ?? '');
    const end = async (visitor: Visitor, id = '') =>
      visitor.post('/buoys/console/sessions/end', { form: await visitor.formToken(page), id });

    it('a read seat sees and ends its own; an admin all of the paper', async () => {
      const { key } = desk.seat('gil@example.org', 'read', 'buoys');
      const [one, two] = [await desk.signedIn(key, 'buoys'), await desk.signedIn(key, 'buoys')];
      const admin = await desk.signedIn(desk.keyOf('buoys', 'admin'), 'buoys');
      const own = idsIn((await one.get(page)).text);
      const all = idsIn((await admin.get(page)).text);
      assert.deepEqual([own.length, all.length], [1, 2]);
      const rows = desk.app.store.desk.consoleSessions.list('buoys', desk.clock.now);
      const adminsOwn = rows.find(({ id }) => !all.includes(id))?.id;
      assert.equal((await end(one, adminsOwn)).status, 404);
      assert.equal(await sentTo(admin, page), null);
      assert.equal((await end(one, own[0])).status, 303);
      assert.notEqual(await sentTo(two, page), null);
      assert.equal(
        (
          await end(
            admin,
            all.find((id) => id !== own[0]),
          )
        ).status,
        303,
      );
      assert.notEqual(await sentTo(one, page), null);
    });

    it('all others of a seat end at once', async () => {
      const { key } = desk.seat('hal@example.org', 'admin', 'buoys');
      const one = await desk.signedIn(key, 'buoys');
      const others = [await desk.signedIn(key, 'buoys'), await desk.signedIn(key, 'buoys')];
      const { status } = await one.post('/buoys/console/sessions/end-others', { form: await one.formToken(page) });
      assert.equal(status, 303);
      assert.equal(await sentTo(one, page), null);
      for (const other of others) assert.notEqual(await sentTo(other, page), null);
    });
  });

  describe('their passkeys', () => {
    const page = '/tides/console/sessions';
    const options = async (visitor: Visitor, adds: boolean) => {
      const path = adds ? '/tides/console/passkeys/challenge' : '/tides/console/passkey/challenge';
      const { status, text } = await visitor.post(path, adds ? { form: await visitor.formToken(page) } : {});
      assert.equal(status, 200, text);
      return JSON.parse(text);
    };
    const add = async (visitor: Visitor, device: Authenticator, twist = {}) => {
      const credential = device.create(await options(visitor, true), ORIGIN, twist);
      const form = await visitor.formToken(page);
      return visitor.post('/tides/console/passkeys', { form, name: 'Key ring', credential });
    };
    const signIn = async (device: Authenticator, twist = {}, paper = 'tides') => {
      const visitor = browser();
      const credential = device.get(await options(visitor, false), ORIGIN, twist);
      return { visitor, credential, ...(await visitor.post(`/${paper}/console/passkey`, { credential })) };
    };
    const seated = async (email: string) => {
      const { key, made } = desk.seat(email);
      return { visitor: await desk.signedIn(key), made };
    };
    const passkeysOf = ({ id }: AccessKey) => desk.app.store.desk.passkeys.ofKey(id);

    it('of each algorithm are added and sign in, without a name', async () => {
      const { visitor, made } = await seated('ivy@example.org');
      for (const kind of ['ES256', 'EdDSA', 'RS256'] as const) {
        const device = new Authenticator(kind);
        const { status, text } = await add(visitor, device);
        assert.equal(status, 303, text);
        const one = await signIn(device, { userHandle: made.id });
        assert.deepEqual([one.status, one.headers.get('location')], [303, '/tides/console/'], kind);
        assert.equal(await sentTo(one.visitor), null);
      }
      assert.equal(passkeysOf(made).length, 3);
      assert.match((await visitor.get(page)).text, /with a passkey/);
    });

    it('are asked for discoverable, of this host, with the user verified, and on a device that has none yet', async () => {
      const { visitor, made } = await seated('jan@example.org');
      const device = new Authenticator();
      await add(visitor, device);
      const asked = await options(visitor, true);
      assert.deepEqual(asked.rp, { id: 'news.example', name: 'The Tide Table (console)' });
      assert.equal(Buffer.from(asked.user.id, 'base64url').toString(), made.id);
      assert.deepEqual(
        asked.excludeCredentials.map(({ id }: { id: string }) => id),
        [device.id.toString('base64url')],
      );
      const { residentKey, userVerification } = asked.authenticatorSelection;
      assert.deepEqual([residentKey, userVerification, asked.attestation], ['required', 'required', 'none']);
      const { rpId, challenge, ...rest } = await options(browser(), false);
      assert.equal(rpId, 'news.example');
      assert.ok(Buffer.from(challenge, 'base64url').length >= 16);
      assert.deepEqual(rest, { timeout: 300_000, userVerification: 'required' });
    });

    it('what is for another page, host, seat or use is refused, and adds and opens nothing', async () => {
      const { visitor, made } = await seated('kim@example.org');
      const device = new Authenticator();
      const twists: [why: RegExp, twist: object][] = [
        [/another page/, { origin: 'https://evil.example' }],
        [/another page/, { crossOrigin: true }],
        [/another host/, { rpId: 'evil.example' }],
        [/did not check who you are/, { isUserVerified: false }],
      ];
      for (const [why, twist] of [...twists, [/another page/, { type: 'webauthn.get' }] as const]) {
        const { status, text } = await add(visitor, device, twist);
        assert.equal(status, 400);
        assert.match(said(text), why);
      }
      assert.equal(passkeysOf(made).length, 0);
      assert.equal((await add(visitor, device)).status, 303);
      const refused: [why: RegExp, twist: object][] = [
        ...twists,
        [/another page/, { type: 'webauthn.create' }],
        [/another seat/, { userHandle: 'x' }],
      ];
      for (const [why, twist] of refused) {
        const one = await signIn(device, twist);
        assert.equal(one.status, 401);
        assert.match(said(one.text), why);
        assert.equal(one.visitor.cookies.size, 0);
      }
      assert.match(said((await signIn(new Authenticator())).text), /belongs to no seat here/);
      const elsewhere = await signIn(device, {}, 'buoys');
      assert.deepEqual([elsewhere.status, elsewhere.visitor.cookies.size], [401, 0]);
      const forged = new Authenticator();
      device.id.copy(forged.id);
      assert.match(said((await signIn(forged)).text), /signature does not match/);
    });

    it('an answer counts once, within five minutes, for the session that asked', async () => {
      const { visitor } = await seated('lea@example.org');
      const device = new Authenticator();
      await add(visitor, device);
      const one = await signIn(device);
      assert.equal(one.status, 303);
      const replayed = await browser().post('/tides/console/passkey', { credential: one.credential });
      assert.match(said(replayed.text), /longer than five minutes, or was sent before/);

      const slow = browser();
      const credential = device.get(await options(slow, false), ORIGIN);
      const at = desk.clock.now;
      desk.clock.now += 5 * MINUTE;
      assert.equal((await slow.post('/tides/console/passkey', { credential })).status, 401);
      desk.clock.now = at;
      // Taken with the refusal: a clock that is set back does not bring it back.
      assert.equal((await slow.post('/tides/console/passkey', { credential })).status, 401);

      const other = await seated('mia@example.org');
      const made = new Authenticator().create(await options(visitor, true), ORIGIN);
      const fields = { form: await other.visitor.formToken(page), name: 'Stolen', credential: made };
      assert.equal((await other.visitor.post('/tides/console/passkeys', fields)).status, 400);
      assert.equal(passkeysOf(other.made).length, 0);
    });

    it('a counter that goes back is refused', async () => {
      const { visitor } = await seated('nan@example.org');
      const device = new Authenticator();
      device.counter = 7;
      await add(visitor, device);
      const counts = [
        [7, 401],
        [3, 401],
        [0, 401],
        [8, 303],
        [8, 401],
        [9, 303],
      ] as const;
      for (const [counter, status] of counts) {
        const one = await signIn(device, { counter });
        assert.equal(one.status, status, String(counter));
        if (status === 401) assert.match(said(one.text), /counter of the passkey "Key ring" went back.*been copied/);
      }
    });

    it('end with their seat, and when removed; another seat can neither rename nor remove them', async () => {
      const { visitor, made } = await seated('oda@example.org');
      const other = await seated('pat@example.org');
      const [kept, removed] = [new Authenticator(), new Authenticator()];
      await add(visitor, kept);
      await add(visitor, removed);
      const change = async (by: Visitor, what: string, { id }: Authenticator, name = '') => {
        const fields = { form: await by.formToken(page), id: id.toString('base64url'), name };
        return (await by.post(`/tides/console/passkeys/${what}`, fields)).status;
      };
      assert.equal(await change(other.visitor, 'remove', kept), 404);
      assert.equal(await change(other.visitor, 'rename', kept, 'Mine'), 404);
      assert.equal(await change(visitor, 'rename', kept), 400);
      assert.equal(await change(visitor, 'rename', kept, 'The "blue" one'), 303);
      assert.match((await visitor.get(page)).text, /value="The &quot;blue&quot; one"/);
      assert.equal(await change(visitor, 'remove', removed), 303);
      assert.equal((await signIn(removed)).status, 401);
      assert.equal((await signIn(kept)).status, 303);
      revokePaperKey(desk.app, 'tides', made.id);
      assert.match(said((await signIn(kept)).text), /key was revoked/);
    });

    it('what nobody can read is refused with a reason', async () => {
      const { visitor } = await seated('quin@example.org');
      const sound = JSON.parse(new Authenticator().create(await options(visitor, true), ORIGIN));
      const attestationObject = sound.response.attestationObject.slice(0, 80);
      const cut = JSON.stringify({ ...sound, response: { ...sound.response, attestationObject } });
      for (const credential of ['', '{', '[]', 'null', '{"id":"x"}', cut, '['.repeat(5_000)]) {
        const form = await visitor.formToken(page);
        const added = await visitor.post('/tides/console/passkeys', { form, credential });
        assert.equal(added.status, 400, credential.slice(0, 20));
        assert.equal((await browser().post('/tides/console/passkey', { credential })).status, 401);
      }
    });
  });
});
