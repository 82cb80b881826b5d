import { stringify } from 'yaml';
import { answer } from '../../../src/records/accounts/answer.ts';
import type { AccountPages } from '../../../src/records/accounts/views.ts';
import {
  eventRow,
  expectationRow,
  knownNames,
  namesIn,
  planRow,
  putExpectations,
  removeExpectations,
} from '../../../src/records/declared-expectations.ts';
import { readDocument, ruleText } from '../../../src/records/expectation.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault, problemsIn } from '../../../src/shared/fault.ts';
import { plural } from '../../../src/shared/plural.ts';
import type { SignedIn } from '../../env.ts';
import { problemOf } from '../../middleware/form-body.ts';
import { shortValue, signalLabel } from '../pages/change-view.ts';
import type { PageSender } from '../pages/page.ts';
import type { RecordsContext } from '../route.ts';
import { answered, sendAccountPage, signedInForm, signedInPage } from './pages.ts';

const EVENTS = 20;
const PATH = '/account/expectations';

type View = AccountPages['/account/expectations'];

export function expectationHandlers(app: AppContext, pages: PageSender) {
  const { store, settings } = app;
  const { expectations } = store.records;
  const send = (c: RecordsContext, { account }: SignedIn, rejected: Partial<View> = {}) => {
    const all = expectations.ofAccount(account.id);
    const names = namesIn(all);
    return sendAccountPage(pages, c, [PATH, 'Expectations', rejected.problems === undefined ? 200 : 400], {
      rows: all.map((one) => {
        const { hostname, signal, state, since, seen } = expectationRow(app, one);
        return {
          ...{ hostname, signal: signalLabel(signal), expected: ruleText(one.rule), state, since },
          seen: seen === null ? null : seen.map(shortValue).join(', ') || 'no records',
        };
      }),
      plans: expectations.plans(account.id).map((plan) => {
        const { items, ...row } = planRow(app, plan);
        return {
          ...row,
          items: items.map(({ hostname, signal, state, expected, receipt, settled_at }) => ({
            ...{ hostname, signal: signalLabel(signal), state, expected: ruleText(expected) },
            proof: receipt === null ? null : `/t/${hostname}?as_of=${settled_at}`,
          })),
        };
      }),
      events: expectations.events(account.id, EVENTS).map((event) => {
        const { seq, at, line, kind } = eventRow(app, event);
        return { seq, at, line, kind, url: `/t/${event.hostname}` };
      }),
      has_alert: store.records.changeAlerts.list(account.id).length > 0,
      given: all.length === 0 ? '' : stringify({ names }),
      problems: [],
      ...rejected,
    });
  };
  return {
    page: signedInPage((c, signed) => send(c, signed)),
    put: signedInForm(settings, (c, signed, form) => {
      const given = form.text('document');
      try {
        putExpectations(app, signed.account.id, readDocument(given, knownNames(app)));
      } catch (error) {
        const problems = (error instanceof Fault ? problemsIn(error) : null) ?? [
          { field: 'document', rule: '', message: problemOf(error) },
        ];
        return send(c, signed, { given, problems });
      }
      const all = expectations.ofAccount(signed.account.id);
      const wrong = all.filter(({ state }) => state === 'unexpected').length;
      const text = `${plural(all.length, 'expectation')} set${wrong === 0 ? '.' : `; ${wrong} ${wrong === 1 ? 'is' : 'are'} not met now.`}`;
      return answered(c, signed, PATH, answer(text, null, wrong === 0 ? 'good' : 'warn'));
    }),
    remove: signedInForm(settings, (c, signed) => {
      const given = stringify({ names: namesIn(expectations.ofAccount(signed.account.id)) });
      const removed = removeExpectations(app, signed.account.id);
      const plans = removed.plans === 0 ? '' : `, and ${plural(removed.plans, 'planned change')}`;
      const text = `${plural(removed.expectations, 'expectation')} removed${plans}. Every change reaches your alerts again.`;
      const undo =
        removed.expectations === 0 ? null : { action: PATH, label: 'Expect them again', fields: { document: given } };
      // An answer in the address has no room for a long document.
      if (given.length > 1_000) return answered(c, signed, PATH, answer(text));
      return answered(c, signed, PATH, answer(text, undo));
    }),
    cancel: signedInForm(settings, (c, signed) => {
      const isRemoved = expectations.removePlan(signed.account.id, c.req.param('id') ?? '');
      return answered(c, signed, PATH, answer(isRemoved ? 'The planned change is removed.' : 'It was removed before.'));
    }),
  };
}
