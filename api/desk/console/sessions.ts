import { randomBytes } from 'node:crypto';
import type { BlockList } from 'node:net';
import type { Change } from '../../../src/desk/activity.ts';
import {
  addPasskey,
  canHavePasskeys,
  creationOptions,
  newChallenge,
  newPasskey,
  PASSKEY_NAME_MAX,
} from '../../../src/desk/console/passkey.ts';
import { endSession, sessionChange, sessionRow, sessionsOf } from '../../../src/desk/console/session.ts';
import { isoOrNull, isoTime } from '../../../src/proof/time.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { lineProblems } from '../../../src/shared/shown-text.ts';
import type { ConsoleContext } from '../../env.ts';
import { FAULT_STATUS } from '../../middleware/fault.ts';
import { type Form, problemOf } from '../../middleware/form-body.ts';
import { privateJson } from '../../responses/send.ts';
import { redirect, showAgain } from './action.ts';
import type { ConsoleParts, Shown } from './page.ts';
import type { ConsoleRoute } from './route.ts';
import { readOwnForm, recordOwn, signOut } from './session.ts';
import { requirePasskeys } from './sign-in.ts';

const PAGE = 'sessions';

/** Where a seat is signed in, and its passkeys. */
export function sessionsPage({ app }: ConsoleParts, c: ConsoleContext): Shown {
  const { now } = app.clock;
  const { consoleSessions: sessions, keys, passkeys } = app.store.desk;
  const key = c.get('key');
  const known = keys.list(key.paper);
  return [
    '/console/sessions',
    'Signed in',
    {
      sessions: sessionsOf({ sessions, now }, key).map((session) => ({
        ...sessionRow(session, known),
        is_this: session.id === c.get('session').id,
        is_own: session.key === key.id,
      })),
      passkeys: passkeys.ofKey(key.id).map(({ id, name, host, made_at, used_at }) => ({
        ...{ id, name, host },
        made_at: isoTime(made_at),
        used_at: isoOrNull(used_at),
      })),
      has_passkeys: canHavePasskeys(c.get('console').origin),
    },
  ];
}

/** Ending sessions, and adding, naming and removing passkeys. */
export function sessionRoutes(parts: ConsoleParts, proxies: BlockList): readonly ConsoleRoute[] {
  const { store, clock } = parts.app;
  const { consoleSessions: sessions, passkeys, challenges } = store.desk;
  const { now } = clock;
  const asking = (c: ConsoleContext) => ({
    paper: c.get('key').paper,
    origin: c.get('console').origin,
    session: c.get('session').id,
  });

  /** Checks the form and makes a change in a transaction. The page then shows the result, or why it failed. */
  const change =
    (check: (c: ConsoleContext, form: Form) => () => { text: string; did: Change[] }) =>
    async (c: ConsoleContext): Promise<Response> => {
      const form = await readOwnForm(c);
      try {
        const work = check(c, form);
        const text = store.database.transact(() => {
          const { text, did } = work();
          recordOwn(parts.app, c, { key: c.get('key'), proxies }, ...did);
          return text;
        });
        return redirect(parts, c, PAGE, { kind: 'done', text });
      } catch (error) {
        const text = problemOf(error);
        const status = error instanceof Fault ? FAULT_STATUS[error.code] : 400;
        return showAgain(parts, c, PAGE, status, { kind: 'refused', text });
      }
    };

  const leave = async (c: ConsoleContext) => {
    await readOwnForm(c);
    signOut(parts.app, c, proxies);
    return c.redirect(`${c.get('console').base}/console/sign-in`, 303);
  };

  const challenge = async (c: ConsoleContext) => {
    await readOwnForm(c);
    const { origin } = c.get('console');
    requirePasskeys(origin);
    const key = c.get('key');
    const text = newChallenge(challenges, asking(c), { now: now(), random: randomBytes });
    const name = key.seat ?? key.name;
    const seat = { key, name, nameplate: c.get('site').paper.nameplate, known: passkeys.ofKey(key.id) };
    return privateJson(c, creationOptions(seat, origin, text));
  };

  return [
    ['POST', 'sign-out', leave],
    [
      'POST',
      'sessions/end',
      change((c, form) => () => {
        const ended = endSession({ sessions, now }, c.get('key'), form.text('id'));
        return { text: `${ended.browser} is signed out.`, did: [sessionChange('ended', ended)] };
      }),
    ],
    [
      'POST',
      'sessions/end-others',
      change((c) => () => {
        const key = c.get('key');
        const ended = sessionsOf({ sessions, now }, key).filter(
          (one) => one.key === key.id && one.id !== c.get('session').id,
        );
        sessions.endOthers(key.id, c.get('session').id);
        const text = ended.length === 1 ? 'One other browser is' : `${ended.length} other browsers are`;
        return { text: `${text} signed out.`, did: ended.map((session) => sessionChange('ended', session)) };
      }),
    ],
    ['POST', 'passkeys/challenge', challenge],
    [
      'POST',
      'passkeys',
      change((c, form) => {
        const name = nameIn(form.text('name') || c.get('session').browser);
        const sent = form.text('credential');
        if (sent === '') throw new Fault('invalid_request', 'no passkey came with this form: adding one needs scripts');
        const passkey = newPasskey({ challenges, now }, asking(c), { key: c.get('key'), name, sent });
        return () => {
          addPasskey(passkeys, passkey);
          const text = `The passkey ${JSON.stringify(name)} signs you in from now on.`;
          return { text, did: [passkeyChange('added', c, name)] };
        };
      }),
    ],
    [
      'POST',
      'passkeys/rename',
      change((c, form) => () => {
        const name = nameIn(form.text('name'));
        if (!passkeys.rename(c.get('key').id, form.text('id'), name)) throw noPasskey();
        return { text: `The passkey is called ${JSON.stringify(name)} now.`, did: [] };
      }),
    ],
    [
      'POST',
      'passkeys/remove',
      change((c, form) => () => {
        const id = form.text('id');
        const { name = '' } = passkeys.ofKey(c.get('key').id).find((passkey) => passkey.id === id) ?? {};
        if (!passkeys.remove(c.get('key').id, id)) throw noPasskey();
        const text = 'The passkey is removed and signs nobody in any more. Delete it on your device too.';
        return { text, did: [passkeyChange('removed', c, name)] };
      }),
    ],
  ];
}

/** A name for a passkey. Throws `invalid_request`. */
function nameIn(text: string): string {
  const name = text.normalize('NFC');
  const [problem] = lineProblems('name', name, PASSKEY_NAME_MAX, true);
  if (problem === undefined) return name;
  throw new Fault('invalid_request', `the passkey’s name: ${problem.message}`, { field: 'name' });
}

const passkeyChange = (verb: 'added' | 'removed', c: ConsoleContext, name: string): Change => ({
  action: `passkey.${verb}`,
  subject: { kind: 'key', id: c.get('key').id },
  detail: { name },
});

const noPasskey = () => new Fault('not_found', 'your seat has no such passkey; it may have been removed');
