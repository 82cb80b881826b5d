import { accountExport, deleteAccount } from '../../../src/app/account-export.ts';
import type { AppContext } from '../../../src/app/context.ts';
import { clearSessionCookie } from '../../middleware/session.ts';
import { PRIVATE } from '../../responses/send.ts';
import type { RecordsContext } from '../context.ts';
import type { PageSender } from '../pages/page.ts';
import { SIGN_IN, sendAccountPage, signedInForm, signedInPage } from './pages.ts';

/** The data of an account: to export, and to delete. */
export function dataHandlers(app: AppContext, pages: PageSender) {
  const send = (c: RecordsContext, problem: string | null = null) =>
    sendAccountPage(
      pages,
      c,
      { route: '/account/data', title: 'Your data', status: problem === null ? 200 : 400 },
      { problem },
    );
  return {
    page: signedInPage((c) => send(c)),
    export: signedInPage((c, { account }) =>
      c.body(`${JSON.stringify(accountExport(app, account), null, 2)}\n`, 200, {
        'Content-Type': 'application/json; charset=utf-8',
        'Content-Disposition': 'attachment; filename="domain-records-account.json"',
        'Cache-Control': PRIVATE,
        'X-Content-Type-Options': 'nosniff',
      }),
    ),
    delete: signedInForm(app.settings, (c, { account }, form) => {
      if (form.text('confirm').toLowerCase() !== account.email) {
        return send(c, `This is not the address of this account. Type ${account.email} to delete it.`);
      }
      deleteAccount(app, account);
      clearSessionCookie(c, app.settings.dataOrigin);
      return c.redirect(SIGN_IN, 303);
    }),
  };
}
