import { toUnsubscribe, unsubscribe } from '../../../src/accounts/unsubscribe.ts';
import type { AppContext } from '../../../src/app/context.ts';
import { limitBody } from '../../middleware/json-body.ts';
import type { RecordsContext } from '../context.ts';
import type { PageSender } from '../pages/page.ts';
import { needPart } from './form.ts';
import { sendAccountPage } from './pages.ts';

/**
 * Stops mails of changes by the link at their foot. Reading the page changes nothing. The one-click button of a mail
 * client sends a form without an origin (RFC 8058, section 3.1), so the token authorizes it and no cookie does.
 * `secret` is the key of mailed links.
 */
export function unsubscribeHandlers(
  { store, now }: Pick<AppContext, 'store' | 'now'>,
  secret: Uint8Array,
  pages: PageSender,
) {
  const linkOf = (c: RecordsContext) => ({
    account: needPart('account', c.req.query('account')),
    token: needPart('token', c.req.query('token')),
  });
  const send = (c: RecordsContext, address: string, done: boolean) =>
    sendAccountPage(
      pages,
      c,
      { route: '/account/unsubscribe', title: 'Stop mails of changes' },
      { ...linkOf(c), address, done },
    );
  return {
    page: (c: RecordsContext) => {
      const { account, token } = linkOf(c);
      return send(c, toUnsubscribe(store.accounts, secret, account, token).email, false);
    },
    stop: {
      before: [limitBody],
      handle: (c: RecordsContext) => {
        return send(c, unsubscribe(store, secret, linkOf(c), now()).email, true);
      },
    },
  };
}
