import { randomBytes } from 'node:crypto';
import { keyChange } from '../../../src/desk/activity.ts';
import { requestLink, requireFirst, requireLink, takeFirstSeat, useLink } from '../../../src/desk/console/link.ts';
import { canHavePasskeys, newChallenge, passkeySeat, requestOptions } from '../../../src/desk/console/passkey.ts';
import { type AccessKey, KeyBody, requireKey } from '../../../src/desk/papers/keys.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { linkKey } from '../../../src/shared/files/data-folder.ts';
import { ASKS, SIGN_INS } from '../../../src/shared/limits.ts';
import { newId } from '../../../src/shared/new-id.ts';
import { readAddress } from '../../../src/shared/outbound/mail-address.ts';
import { formToken } from '../../../src/shared/session.ts';
import type { PaperContext, PaperEnv } from '../../env.ts';
import { type Form, needPart, problemOf, readForm } from '../../middleware/form-body.ts';
import { throttle } from '../../middleware/throttle.ts';
import { privateJson } from '../../responses/send.ts';
import { type DoorParts, type DoorRoute, sendDoor, sendSignIn } from './door-page.ts';
import { afterSignIn, formGuards, recordOwn, signIn } from './session.ts';

/** Signing in to a console: with a key, a mailed link, a passkey, or the link for the first seat. */
export function signInRoutes(parts: DoorParts): readonly DoorRoute[] {
  const { app, proxies } = parts;
  const { store, settings, clock } = app;
  const { now } = clock;
  const { transact } = store.database;
  const tables = { ...store.desk, transact };
  const secret = linkKey(settings, 'readers');
  const limited = [...formGuards, throttle<PaperEnv>(SIGN_INS, proxies)];
  const mailsLimited = [...formGuards, throttle<PaperEnv>(ASKS, proxies)];
  const slugOf = (c: PaperContext): string => c.get('console').slug;
  const asking = (c: PaperContext) => ({ paper: slugOf(c), origin: c.get('console').origin, session: null });
  const goOn = (c: PaperContext, to?: string) => c.redirect(afterSignIn(c.get('console'), to), 303);
  const begin = (c: PaperContext, key: AccessKey, began: 'key' | 'mail' | 'link' | 'passkey' | 'first') =>
    signIn(app, c, { key: requireSeatKey(key), began, proxies });

  const withKey = async (c: PaperContext) => {
    const form = await readForm(c);
    const to = form.text('to');
    try {
      const key = requireKey(store.desk.keys, form.text('key'), now());
      if (key.paper !== slugOf(c)) {
        throw new Fault('wrong_paper', `this key only works for ${key.paper}; sign in to that paper’s console`);
      }
      begin(c, key, 'key');
      return goOn(c, to);
    } catch (error) {
      return sendSignIn(parts, c, 401, { to, problem: { of: 'key', text: problemOf(error) } });
    }
  };

  const askForLink = async (c: PaperContext) => {
    const form = await readForm(c);
    const [asked, to] = [form.text('email'), form.text('to')];
    const address = readAddress(asked);
    if ('problem' in address) {
      const problem = { of: 'email', text: `This address ${address.problem}.` } as const;
      return sendSignIn(parts, c, 400, { to, asked: asked.slice(0, 254), problem });
    }
    requestLink(tables, slugOf(c), address.key, { now, newId, secret });
    return sendSignIn(parts, c, 200, { asked: address.key, sent: true });
  };

  const ended = (c: PaperContext, error: unknown) =>
    sendSignIn(parts, c, 404, { problem: { of: null, text: problemOf(error) } });

  const showEnter = (c: PaperContext) => {
    const token = needPart('token', c.req.query('token'));
    try {
      const { key } = requireLink(tables, slugOf(c), token, now());
      return sendDoor(parts, c, ['/console/enter', 'Sign in'], { token, seat: key.seat ?? key.name });
    } catch (error) {
      return ended(c, error);
    }
  };

  const enter = async (c: PaperContext) => {
    const token = needPart('token', (await readForm(c)).text('token'));
    try {
      transact(() => {
        const { link, key } = useLink(tables, slugOf(c), token, now());
        begin(c, key, link.purpose);
      });
      return goOn(c);
    } catch (error) {
      return ended(c, error);
    }
  };

  const passkeyChallenge = (c: PaperContext) => {
    const { origin } = c.get('console');
    requirePasskeys(origin);
    const challenge = newChallenge(store.desk.challenges, asking(c), { now: now(), random: randomBytes });
    return privateJson(c, requestOptions(origin, challenge));
  };

  const withPasskey = async (c: PaperContext) => {
    const form = await readForm(c);
    const to = form.text('to');
    try {
      begin(c, passkeySeat({ ...store.desk, now }, asking(c), form.text('credential')), 'passkey');
      return goOn(c, to);
    } catch (error) {
      return sendSignIn(parts, c, 401, { to, problem: { of: 'passkey', text: problemOf(error) } });
    }
  };

  const firstPage = (
    c: PaperContext,
    token: string,
    { given, problem }: { given: { name: string; email: string }; problem: { field: string; text: string } | null },
  ) =>
    sendDoor(parts, c, ['/console/first', 'The first seat', problem === null ? 200 : 400], { token, given, problem });

  const showFirst = (c: PaperContext) => {
    const token = needPart('token', c.req.query('token'));
    try {
      requireFirst(tables, slugOf(c), token, now());
      return firstPage(c, token, { given: { name: '', email: '' }, problem: null });
    } catch (error) {
      return ended(c, error);
    }
  };

  const first = async (c: PaperContext) => {
    const form = await readForm(c);
    const token = needPart('token', form.text('token'));
    const { given, problem } = seatIn(form);
    try {
      if (problem !== null) {
        requireFirst(tables, slugOf(c), token, now());
        return firstPage(c, token, { given, problem });
      }
      const { key, session } = transact(() => {
        const maker = { ...tables, archive: store.desk.archive(slugOf(c)), now, newId, random: randomBytes };
        const { key, made } = takeFirstSeat(maker, slugOf(c), token, given);
        recordOwn(app, c, { key: made, proxies }, keyChange('made', made));
        return { key, session: begin(c, made, 'first') };
      });
      const has_passkeys = canHavePasskeys(c.get('console').origin);
      const content = { key, email: given.email, form: formToken(session), has_passkeys };
      return await sendDoor(parts, c, ['/console/first-made', 'Your seat', 201], content);
    } catch (error) {
      return ended(c, error);
    }
  };

  return [
    [
      'GET',
      'sign-in',
      [],
      (c) =>
        c.get('session') ? goOn(c, c.req.query('to')) : sendSignIn(parts, c, 200, { to: c.req.query('to') ?? '' }),
    ],
    ['POST', 'sign-in', limited, withKey],
    ['POST', 'link', mailsLimited, askForLink],
    ['GET', 'enter', [], showEnter],
    ['POST', 'enter', limited, enter],
    ['POST', 'passkey/challenge', limited, passkeyChallenge],
    ['POST', 'passkey', limited, withPasskey],
    ['GET', 'first', [], showFirst],
    ['POST', 'first', limited, first],
  ];
}

/** Returns the key unless it is an agent's. Throws `level_too_low`. */
function requireSeatKey(key: AccessKey): AccessKey {
  if (key.level !== 'agent') return key;
  throw new Fault(
    'level_too_low',
    'this is an agent’s key: a program files with it through the API, and it cannot open the console; ask an admin of the paper for a seat of your own',
  );
}

/** Throws `invalid_request` where browsers have no passkeys. */
export function requirePasskeys(origin: string): void {
  if (canHavePasskeys(origin)) return;
  throw new Fault(
    'invalid_request',
    `passkeys need a host with a name and https, and this console is at ${origin}; sign in with a link or a key`,
  );
}

/** The seat that a form describes, and what is wrong with it. */
function seatIn(form: Form) {
  const given = { name: form.text('name'), email: form.text('email').toLowerCase() };
  const read = KeyBody.safeParse({ level: 'admin', name: given.name, seat: given.email });
  if (read.success) return { given, problem: null };
  const [problem] = read.error.issues;
  const field = problem?.path[0] === 'seat' ? 'email' : 'name';
  const text =
    given[field] === '' ? `The ${field === 'email' ? 'mail address' : 'name'} is missing.` : `It ${problem?.message}.`;
  return { given, problem: { field, text } };
}
