import { answer } from '../../../src/records/accounts/answer.ts';
import { KEYS_MAX, makeAccountKey, serviceKeyRow } from '../../../src/records/accounts/service-key.ts';
import type { AccountPages } from '../../../src/records/accounts/views.ts';
import type { AppContext } from '../../../src/server/context.ts';
import type { SignedIn } from '../../env.ts';
import type { PageSender } from '../pages/page.ts';
import type { RecordsContext } from '../route.ts';
import { stepsOf } from './first-steps.ts';
import type { sendOverview } from './overview.ts';
import { answered, problemAt, sendAccountPage, signedInForm, signedInPage } from './pages.ts';

type KeysView = Pick<AccountPages['/account/keys'], 'made' | 'problem' | 'given'>;

/** `overview` shows the first steps, one of which makes a key. */
export function keyHandlers(app: AppContext, pages: PageSender, overview: ReturnType<typeof sendOverview>) {
  const { store, settings, clock } = app;
  const keys = store.records.serviceKeys;
  const send = (
    c: RecordsContext,
    { account }: SignedIn,
    { made = null, problem = null, given = { name: '', expires_on: '' } }: Partial<KeysView> = {},
  ) =>
    sendAccountPage(pages, c, ['/account/keys', 'Keys', problem !== null ? 400 : made !== null ? 201 : 200], {
      keys: keys
        .list(account.id)
        .map((key) => serviceKeyRow(key, keys.hasExpired(key, clock.now())))
        .reverse(),
      made,
      problem,
      given,
      most: KEYS_MAX,
      command: stepsOf(app, account.id, made?.key ?? null).command,
    });

  return {
    list: signedInPage((c, signed) => send(c, signed)),
    create: signedInForm(settings, (c, signed, form) => {
      const isFirstStep = form.text('from') === 'start';
      const given = { name: form.text('name'), expires_on: form.text('expires_on') };
      try {
        const by = `session:${signed.session.id}`;
        const maker = { keys, transact: store.database.transact, now: clock.now, by };
        const wish = { name: given.name, expires: given.expires_on, field: 'expires_on' };
        const { key, made } = makeAccountKey(maker, signed.account.id, wish);
        const shown = { made: { key, name: made.name } };
        return isFirstStep ? overview(c, signed, shown) : send(c, signed, shown);
      } catch (error) {
        const problem = problemAt(error);
        return isFirstStep ? overview(c, signed, { problem }) : send(c, signed, { problem, given });
      }
    }),
    revoke: signedInForm(settings, (c, signed) => {
      const { account, session } = signed;
      const id = c.req.param('id') ?? '';
      const key = keys.list(account.id).find((one) => one.id === id);
      // A key that was revoked before, or belongs to another account, is ignored: the list shows the state.
      if (key === undefined || !keys.revoke(id, clock.now(), `session:${session.id}`, account.id)) {
        return c.redirect('/account/keys', 303);
      }
      const text = `The key “${key.name}” is revoked: every request with it gets 401 from now on. A revoked key never works again; if it was the wrong one, make another.`;
      return answered(c, signed, '/account/keys', answer(text));
    }),
  };
}
