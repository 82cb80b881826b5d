import { stringify } from 'yaml';
import { HOUR, isoTime } from '../../../src/proof/time.ts';
import { answer } from '../../../src/records/accounts/answer.ts';
import type { AccountPages, FormProblem } from '../../../src/records/accounts/views.ts';
import {
  eventRow,
  expectationRow,
  knownNames,
  NOTE_MAX,
  namesIn,
  planChange,
  planRow,
  putExpectations,
  removeExpectations,
} from '../../../src/records/declared-expectations.ts';
import { ruleText, TYPES } from '../../../src/records/expectation.ts';
import { readDocument } from '../../../src/records/expectation-document.ts';
import type { PlannedChange } from '../../../src/records/expectations.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault, problemsIn } from '../../../src/shared/fault.ts';
import { newId } from '../../../src/shared/new-id.ts';
import { plural } from '../../../src/shared/plural.ts';
import type { SignedIn } from '../../env.ts';
import { problemOf } from '../../middleware/form-body.ts';
import { shortValue, signalLabel } from '../pages/change-view.ts';
import type { PageSender } from '../pages/page.ts';
import type { RecordsContext } from '../route.ts';
import { answered, sendAccountPage, signedInForm, signedInPage } from './pages.ts';

const EVENTS = 20;
/** The windows that the form offers, in hours. */
const WINDOWS = [
  ['1', '1 hour'],
  ['6', '6 hours'],
  ['24', '1 day'],
  ['72', '3 days'],
  ['168', '7 days'],
] as const;
const PATH = '/account/expectations';
const SIGNALS: readonly string[] = TYPES;

type View = AccountPages['/account/expectations'];

type Planned = View['planning']['given'];
const NO_PLAN: Planned = { hostname: '', signal: 'A', values: '', hours: '24', note: '' };

/** The change of a form, with one problem at most, which names its field. Throws `invalid_request`, `conflict`. */
function plannedIn(app: AppContext, account: string, { hostname, signal, values, hours, note }: Planned) {
  if (!WINDOWS.some(([of]) => of === hours)) {
    const message = `hours: ${JSON.stringify(hours.slice(0, 20))} is not a window; choose one of the list`;
    throw new Fault('invalid_request', message, { field: 'hours' });
  }
  if (note.length > NOTE_MAX) {
    const message = `note: has ${note.length} characters, and at most ${NOTE_MAX} are kept; shorten it`;
    throw new Fault('invalid_request', message, { field: 'note' });
  }
  const lines = values
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const rule = signal === 'CERTIFICATE' && lines.length > 0 ? { issuers: lines } : { values: lines };
  const names = readDocument(JSON.stringify({ names: { [hostname.trim()]: { [signal]: rule } } }), knownNames(app));
  const until = app.clock.now() + Number(hours) * HOUR;
  return planChange(app, account, { names, from: undefined, until, note: note.trim() }, newId());
}

/** The field of the form that a problem of the document is about: its path is names.<hostname>.<type>.<rule>. */
function fieldOf(field: unknown, { hostname, signal }: Planned): string | null {
  const path = `names.${hostname.trim()}`;
  if (field === path) return 'hostname';
  if (field === `${path}.${signal}`) return SIGNALS.includes(signal) ? 'values' : 'signal';
  if (String(field).startsWith(`${path}.${signal}.`)) return 'values';
  return field === 'hours' || field === 'note' ? field : null;
}

export function expectationHandlers(app: AppContext, pages: PageSender) {
  const { store, settings } = app;
  const { expectations } = store.records;
  const planningOf = (account: string, given = NO_PLAN, problem: FormProblem | null = null): View['planning'] => ({
    ...{ given, problem, signals: SIGNALS.map((signal) => ({ signal, label: signalLabel(signal) })) },
    hours: WINDOWS.map(([hours, label]) => ({ hours, label })),
    hostnames: store.records.watchGroups.hostsOf(account),
  });
  const send = (c: RecordsContext, { account }: SignedIn, rejected: Partial<View> = {}) => {
    const all = expectations.ofAccount(account.id);
    const names = namesIn(all);
    return sendAccountPage(pages, c, [PATH, 'Expectations', Object.keys(rejected).length === 0 ? 200 : 400], {
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
      planning: planningOf(account.id),
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
      // Without the undo button: the answer is in the address, which cannot hold a long document.
      if (given.length > 1_000) return answered(c, signed, PATH, answer(text));
      return answered(c, signed, PATH, answer(text, undo));
    }),
    plan: signedInForm(settings, (c, signed, form) => {
      const given = Object.fromEntries(
        Object.keys(NO_PLAN).map((field) => [field, form.text(field)]),
      ) as unknown as Planned;
      let made: PlannedChange;
      try {
        made = plannedIn(app, signed.account.id, given);
      } catch (error) {
        const [first] = (error instanceof Fault ? problemsIn(error) : null) ?? [];
        const text = first?.message ?? problemOf(error);
        const isConflict = error instanceof Fault && error.code === 'conflict';
        const field =
          error instanceof Fault && !isConflict ? fieldOf(first?.field ?? error.details.field, given) : null;
        return send(c, signed, { planning: planningOf(signed.account.id, given, { field, text }) });
      }
      const text = `The change of ${given.hostname.trim()} is announced. It is quiet until ${isoTime(made.until_at)}.`;
      return answered(
        c,
        signed,
        PATH,
        answer(text, { action: `${PATH}/plans/${made.id}/remove`, label: 'Take it back', fields: {} }),
      );
    }),
    cancel: signedInForm(settings, (c, signed) => {
      const isRemoved = expectations.removePlan(signed.account.id, c.req.param('id') ?? '');
      return answered(c, signed, PATH, answer(isRemoved ? 'The planned change is removed.' : 'It was removed before.'));
    }),
  };
}
