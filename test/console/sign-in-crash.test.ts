import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { printedLink } from '../../src/desk/console/link.ts';
import { addPasskey, newChallenge, newPasskey } from '../../src/desk/console/passkey.ts';
import { allow } from '../../src/desk/papers/oauth.ts';
import { makePaperKey } from '../../src/desk/papers/paper-keys.ts';
import { type AppContext, openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { secretHash } from '../../src/shared/access-key.ts';
import { newId } from '../../src/shared/new-id.ts';
import { envIn, tempFolder } from '../support/app-context.ts';
import { Authenticator } from '../support/authenticator.ts';
import { serve } from '../support/program.ts';
import { enterPapers } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const PAPER = 'tide-table';
/** Passkeys need a host with a name; nothing listens there. */
const ORIGIN = 'http://localhost:9';
const MANY = 25;
const DELAYS = [5, 25, 80];

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a response of tokens, or an error
  body: any;
}

/** A server that is killed again and again, and its database in between. */
async function desk(t: Parameters<typeof serve>[0]) {
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: PAPER }]);
  const settings = { CARDS: 'off', ORIGIN };
  let serving = await serve(t, folder, settings);
  const within = <T>(work: (app: AppContext) => T): T => {
    const app = openAppContext(readSettings(envIn(folder, { ORIGIN })));
    try {
      return work(app);
    } finally {
      app.close();
    }
  };
  const post = async (path: string, fields: Record<string, string>): Promise<Answer> => {
    const response = await fetch(`${serving.url}/${PAPER}/${path}`, {
      ...{ method: 'POST', redirect: 'manual', body: new URLSearchParams(fields) },
      headers: { Origin: ORIGIN },
    });
    const text = await response.text();
    return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text };
  };
  const sendAll = (path: string, forms: readonly Record<string, string>[]) =>
    Promise.all(forms.map((form) => post(path, form).catch((): Answer => ({ status: 0, body: {} }))));
  return {
    within,
    sendAll,
    /** Sends forms to a server that is killed some ms later, and starts another. */
    async killedUnder(delay: number, path: string, forms: readonly Record<string, string>[]): Promise<Answer[]> {
      const sending = sendAll(path, forms);
      await new Promise((resolve) => setTimeout(resolve, delay));
      serving.child.kill('SIGKILL');
      await serving.ended;
      const answers = await sending;
      serving = await serve(t, folder, settings);
      return answers;
    },
  };
}

/** How often each subject had an action. */
function counted({ store }: AppContext, action: 'key.made' | 'key.revoked' | 'session.begun') {
  const rows = store.desk.activity.list(PAPER, { limit: 1_000, action });
  return (id: string) => rows.filter(({ subject }) => subject?.id === id).length;
}

/** What the database says of each seat: one session at most, and a row for each. */
function requireOneSession(app: AppContext, seats: readonly string[]): number {
  const begun = counted(app, 'session.begun');
  const sessions = app.store.desk.consoleSessions.list(PAPER, app.clock.now());
  for (const seat of seats) {
    const open = sessions.filter(({ key }) => key === seat).length;
    assert.equal(open, begun(seat), 'a session without a row, or a row without a session');
    assert.ok(open <= 1, 'used twice');
  }
  return sessions.filter(({ key }) => seats.includes(key)).length;
}

test('a link and a passkey’s answer sign in once, whenever the server is killed', { skip: ONLY_WIDE }, async (t) => {
  const { within, sendAll, killedUnder } = await desk(t);
  const { links, passkeys } = within((app) => {
    const { desk, database } = app.store;
    const now = app.clock.now();
    const seats = Array.from({ length: 2 * MANY }, (_, n) =>
      makePaperKey(app, PAPER, { level: 'admin', name: `Seat ${n}` }),
    );
    const links = seats.slice(0, MANY).map(({ made }) => {
      const tables = { consoleLinks: desk.consoleLinks, transact: database.transact };
      const { token } = printedLink(tables, PAPER, made.id, { now, newId, random: randomBytes });
      return { seat: made.id, token };
    });
    const passkeys = seats.slice(MANY).map(({ made }) => {
      const authenticator = new Authenticator('EdDSA');
      const asking = { paper: PAPER, origin: ORIGIN, session: null };
      const challenge = () => newChallenge(desk.challenges, asking, { now, random: randomBytes });
      const sent = authenticator.create({ challenge: challenge(), rp: { id: 'localhost' } }, ORIGIN);
      const verifier = { challenges: desk.challenges, now: app.clock.now };
      addPasskey(desk.passkeys, newPasskey(verifier, asking, { key: made, name: 'A test', sent }));
      return {
        seat: made.id,
        credential: authenticator.get({ challenge: challenge(), rpId: 'localhost' }, ORIGIN),
      };
    });
    return { links, passkeys };
  });
  const linkForms = links.map(({ token }) => ({ token }));
  const passkeyForms = passkeys.map(({ credential }) => ({ credential }));
  const seats = { links: links.map(({ seat }) => seat), passkeys: passkeys.map(({ seat }) => seat) };
  for (const delay of DELAYS) {
    const entered = await killedUnder(delay, 'console/enter', linkForms);
    within((app) => {
      requireOneSession(app, seats.links);
      const begun = counted(app, 'session.begun');
      const isUsed = ({ token }: { token: string }) =>
        app.store.desk.consoleLinks.byHash(secretHash(token))?.used_at !== null;
      for (const link of links) assert.equal(isUsed(link), begun(link.seat) === 1);
      for (const [n, { status }] of entered.entries())
        if (status === 303) assert.equal(begun(seats.links[n] ?? ''), 1, 'signed in without a row');
    });
    await killedUnder(delay, 'console/passkey', passkeyForms);
    within((app) => requireOneSession(app, seats.passkeys));
  }
  for (const _ of [1, 2]) {
    await sendAll('console/enter', linkForms);
    await sendAll('console/passkey', passkeyForms.slice(0, 20));
  }
  within((app) => {
    assert.equal(requireOneSession(app, seats.links), MANY, 'each link signed in');
    requireOneSession(app, seats.passkeys);
  });
});

test('codes and refresh tokens of OAuth are exchanged once, whenever the server is killed', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { within, sendAll, killedUnder } = await desk(t);
  const client = { id: 'a-client', name: 'A client' };
  const codes = (many: number) =>
    within((app) => {
      const { oauthGrants: grants, keys } = app.store.desk;
      const { made: seat } = makePaperKey(app, PAPER, { level: 'admin', name: 'The seat' });
      return Array.from({ length: many }, () => {
        const code_verifier = randomBytes(32).toString('base64url');
        const challenge = createHash('sha256').update(code_verifier).digest('base64url');
        const granted = { client, scope: 'write', persona: null, redirectUri: 'http://127.0.0.1/', challenge } as const;
        const code = app.store.database.transact(() =>
          allow({ grants, keys, random: randomBytes, now: app.clock.now() }, seat, granted),
        );
        return { grant_type: 'authorization_code', client_id: client.id, code, code_verifier };
      });
    });
  const grantOf = (app: AppContext, { code }: { code: string }) =>
    app.store.desk.oauthGrants.byCode(secretHash(code)) ?? assert.fail('a grant is gone');
  /** Every key of a grant has a row for its making and, once revoked, for its end. */
  const requireRows = (app: AppContext, forms: readonly { code: string }[]) => {
    const [made, revoked] = [counted(app, 'key.made'), counted(app, 'key.revoked')];
    for (const form of forms) {
      const { key } = grantOf(app, form);
      if (key === null) continue;
      assert.equal(made(key), 1);
      assert.equal(revoked(key), app.store.desk.keys.byId(key)?.revoked_at === null ? 0 : 1);
    }
    const ofClient = app.store.desk.keys.list(PAPER).filter(({ name }) => name === client.name);
    assert.deepEqual(
      ofClient.map(({ id }) => id).filter((id) => made(id) !== 1),
      [],
      'a key without a row',
    );
  };

  for (const delay of DELAYS) {
    const forms = codes(MANY);
    const first = await killedUnder(delay, 'oauth/token', forms);
    const before = within((app) => {
      requireRows(app, forms);
      return forms.map((form) => grantOf(app, form).key);
    });
    const again = await sendAll('oauth/token', forms);
    within((app) => requireRows(app, forms));
    for (const [n, { status, body }] of again.entries()) {
      assert.ok(first[n]?.status !== 200 || before[n] !== null, 'tokens without a grant');
      assert.equal(status, before[n] === null ? 200 : 400, 'a code is exchanged once');
      if (status === 400) assert.equal(body.error, 'invalid_grant');
    }
  }

  for (const delay of DELAYS) {
    const forms = codes(MANY);
    const given = await sendAll('oauth/token', forms);
    const refreshes = given.map(({ body }) => ({
      ...{ grant_type: 'refresh_token', client_id: client.id, refresh_token: body.refresh_token as string },
    }));
    const rotations = within((app) => forms.map((form) => grantOf(app, form).rotation));
    const first = await killedUnder(delay, 'oauth/token', refreshes);
    const rotated = within((app) => forms.map((form, n) => grantOf(app, form).rotation !== rotations[n]));
    for (const [n, { status }] of first.entries()) assert.ok(status !== 200 || rotated[n]);
    const again = await sendAll('oauth/token', refreshes);
    for (const [n, { status }] of again.entries()) assert.equal(status, rotated[n] ? 400 : 200, 'refreshed once');
    within((app) => {
      requireRows(app, forms);
      for (const [n, form] of forms.entries()) {
        const key = app.store.desk.keys.byId(grantOf(app, form).key ?? '');
        assert.equal(key?.revoked_at === null, !rotated[n], 'a token that comes twice ends the grant');
      }
    });
    const ending = again.flatMap(({ status, body }) =>
      status === 200 ? [{ token: body.access_token as string }] : [],
    );
    await killedUnder(delay, 'oauth/revoke', ending);
    await sendAll('oauth/revoke', ending);
    within((app) => {
      requireRows(app, forms);
      for (const form of forms)
        assert.notEqual(app.store.desk.keys.byId(grantOf(app, form).key ?? '')?.revoked_at, null);
    });
  }
});
