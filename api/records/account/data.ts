import { accountExport, deleteAccount } from '../../../src/app/account-export.ts';
import { takeCookie } from '../../middleware/session.ts';
import type { RecordsContext } from '../route.ts';
import type { AccountDoors } from './pages.ts';
import { accountForm, accountPage, SIGN_IN, sendAccountPage } from './pages.ts';

/** What is held of an account: to take along, and to delete. */
export function accountDataDoors(doors: AccountDoors): void {
  const { app } = doors;
  const page = (c: RecordsContext, problem: string | null = null) =>
    sendAccountPage(
      doors,
      c,
      { route: '/account/data', title: 'Your data', status: problem === null ? 200 : 400 },
      { problem },
    );

  accountPage(doors, '/account/data', (c) => page(c));
  accountPage(doors, '/account/export.json', (c, { account }) =>
    c.body(`${JSON.stringify(accountExport(app, account), null, 2)}\n`, 200, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Disposition': 'attachment; filename="domain-records-account.json"',
      'Cache-Control': 'private, no-store',
      'X-Content-Type-Options': 'nosniff',
    }),
  );
  accountForm(doors, '/account/delete', (c, { account }, form) => {
    if (form.text('confirm').toLowerCase() !== account.email) {
      return page(c, `This is not the account’s address. Write ${account.email} to delete it.`);
    }
    deleteAccount(app, account);
    takeCookie(c, app.settings.dataOrigin);
    return c.redirect(SIGN_IN, 303);
  });
}
