import { toUnsubscribe, unsubscribe } from '../../../src/accounts/unsubscribe.ts';
import { limitBody } from '../../middleware/json-body.ts';
import type { RecordsContext } from '../route.ts';
import { needPart } from './form.ts';
import type { AccountDoors } from './pages.ts';
import { sendAccountPage } from './pages.ts';

const PATH = '/account/unsubscribe';

/**
 * Ends mails of changes by the link at their foot. Reading the page changes
 * nothing. A mail program's own button sends a form from nowhere (RFC 8058,
 * section 3.1): here the token, and no cookie, is what allows it.
 */
export function unsubscribeDoors(doors: AccountDoors): void {
  const { router, enter, app, secret } = doors;
  const asked = (c: RecordsContext) => ({
    account: needPart('account', c.req.query('account')),
    token: needPart('token', c.req.query('token')),
  });
  const page = (c: RecordsContext, address: string, done: boolean) =>
    sendAccountPage(
      doors,
      c,
      { route: '/account/unsubscribe', title: 'Stop mails of changes' },
      { ...asked(c), address, done },
    );

  router.get(PATH, enter('public'), (c) => {
    const { account, token } = asked(c);
    return page(c, toUnsubscribe(app.store.accounts, secret, account, token).email, false);
  });
  router.post(PATH, enter('public'), limitBody, (c) => {
    return page(c, unsubscribe(app.store, secret, asked(c), app.now()).email, true);
  });
}
