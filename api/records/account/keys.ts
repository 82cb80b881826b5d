import { randomBytes } from 'node:crypto';
import { KEYS_MAX, makeAccountKey } from '../../../src/accounts/keys.ts';
import { serviceKeyRow } from '../../../src/accounts/service-key.ts';
import type { KeysView } from '../../../src/accounts/views.ts';
import { newId } from '../../../src/app/context.ts';
import type { SignedIn } from '../../env.ts';
import type { RecordsContext } from '../route.ts';
import type { AccountDoors } from './pages.ts';
import { accountForm, accountPage, sendAccountPage } from './pages.ts';
import { problemOf } from './problem.ts';

/** Keys of an account: made, shown this one time, listed, revoked. */
export function accountKeyDoors(doors: AccountDoors): void {
  const { app } = doors;
  const { store, now } = app;
  const keys = store.serviceKeys;
  const page = (
    c: RecordsContext,
    { account }: SignedIn,
    { made = null, problem = null }: Partial<Pick<KeysView, 'made' | 'problem'>> = {},
  ) =>
    sendAccountPage(
      doors,
      c,
      { route: '/account/keys', title: 'Keys', status: problem !== null ? 400 : made !== null ? 201 : 200 },
      {
        keys: keys
          .list(account.id)
          .map((key) => serviceKeyRow(key, keys.hasExpired(key, now())))
          .reverse(),
        made,
        problem,
        most: KEYS_MAX,
        example: `curl -H 'X-Service-Key: ${made?.key ?? 'drs_…'}' ${app.settings.dataOrigin}/v1/domains/example.com`,
      },
    );

  accountPage(doors, '/account/keys', (c, signed) => page(c, signed));
  accountForm(doors, '/account/keys', (c, signed, form) => {
    try {
      const { key, made } = makeAccountKey(
        { keys, transact: store.transact, now, newId, random: randomBytes, by: `session:${signed.session.id}` },
        signed.account.id,
        {
          name: form.text('name'),
          expires: form.text('expires_on'),
          field: 'expires_on',
        },
      );
      return page(c, signed, { made: { key, name: made.name } });
    } catch (error) {
      return page(c, signed, { problem: problemOf(error) });
    }
  });
  accountForm(doors, '/account/keys/:id/revoke', (c, { account, session }) => {
    // Revoked before, or another's: the list tells.
    keys.revoke(c.req.param('id') ?? '', now(), `session:${session.id}`, account.id);
    return c.redirect('/account/keys', 303);
  });
}
