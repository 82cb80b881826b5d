import { KEYS_MAX, makeAccountKey, serviceKeyRow } from '../../../src/records/accounts/service-key.ts';
import type { AccountPages } from '../../../src/records/accounts/views.ts';
import type { AppContext } from '../../../src/server/context.ts';
import type { SignedIn } from '../../env.ts';
import { problemOf } from '../../middleware/form-body.ts';
import type { PageSender } from '../pages/page.ts';
import type { RecordsContext } from '../route.ts';
import { sendAccountPage, signedInForm, signedInPage } from './pages.ts';

export function keyHandlers({ store, settings, clock: { now } }: AppContext, pages: PageSender) {
  const keys = store.records.serviceKeys;
  const send = (
    c: RecordsContext,
    { account }: SignedIn,
    { made = null, problem = null }: Partial<Pick<AccountPages['/account/keys'], 'made' | 'problem'>> = {},
  ) =>
    sendAccountPage(pages, c, ['/account/keys', 'Keys', problem !== null ? 400 : made !== null ? 201 : 200], {
      keys: keys
        .list(account.id)
        .map((key) => serviceKeyRow(key, keys.hasExpired(key, now())))
        .reverse(),
      made,
      problem,
      most: KEYS_MAX,
      example: `curl -H 'X-Service-Key: ${made?.key ?? 'drs_…'}' ${settings.dataOrigin}/v1/domains/example.com`,
    });

  return {
    list: signedInPage((c, signed) => send(c, signed)),
    create: signedInForm(settings, (c, signed, form) => {
      try {
        const maker = { keys, transact: store.database.transact, now, by: `session:${signed.session.id}` };
        const { key, made } = makeAccountKey(maker, signed.account.id, {
          name: form.text('name'),
          expires: form.text('expires_on'),
          field: 'expires_on',
        });
        return send(c, signed, { made: { key, name: made.name } });
      } catch (error) {
        return send(c, signed, { problem: problemOf(error) });
      }
    }),
    revoke: signedInForm(settings, (c, { account, session }) => {
      // A key that was revoked before, or belongs to another account, is ignored: the list shows the state.
      keys.revoke(c.req.param('id') ?? '', now(), `session:${session.id}`, account.id);
      return c.redirect('/account/keys', 303);
    }),
  };
}
