import { randomBytes } from 'node:crypto';
import { isoOrNull } from '../../../src/proof/time.ts';
import { type Answer, answer } from '../../../src/records/accounts/answer.ts';
import type { OwnerProof } from '../../../src/records/accounts/owner.ts';
import { eventRow } from '../../../src/records/accounts/owner-row.ts';
import type { AccountPages } from '../../../src/records/accounts/views.ts';
import { hostnameOfField } from '../../../src/records/hostname.ts';
import type { askedCheck } from '../../../src/records/jobs/owner-checks.ts';
import type { lookAtOnce } from '../../../src/records/jobs/owner-look.ts';
import {
  beginProof,
  giveUpProof,
  looksRowOf,
  optRowOf,
  ownedRow,
  putNote,
  removeNote,
  requireOwned,
  requireProof,
  setOpt,
} from '../../../src/records/owners.ts';
import { changeLine } from '../../../src/records/wire-rows.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { SignedIn } from '../../env.ts';
import { problemOf } from '../../middleware/form-body.ts';
import { changeView } from '../pages/change-view.ts';
import type { PageSender } from '../pages/page.ts';
import type { RecordsContext } from '../route.ts';
import { answered, problemAt, sendAccountPage, signedInForm, signedInPage } from './pages.ts';

/** The most hostnames below a name, and changes at them, on its page. */
const HOSTS = 100;
const CHANGES = 20;
/** The most changes that a look names. */
const NAMED = 5;

type ListView = Pick<AccountPages['/account/names'], 'problem' | 'given' | 'answer'>;
type NameView = Pick<AccountPages['/account/name'], 'problem' | 'given' | 'answer'>;

/** The pages of names that an account proves. `check` and `look` are those of the API. */
export function nameHandlers(
  app: AppContext,
  pages: PageSender,
  { check, look }: { check: ReturnType<typeof askedCheck>; look: ReturnType<typeof lookAtOnce> },
) {
  const { store, settings } = app;
  const { owners, watchGroups } = store.records;

  const sendList = (c: RecordsContext, { account }: SignedIn, result: Partial<ListView> = {}) =>
    sendAccountPage(pages, c, ['/account/names', 'Names', result.problem == null ? 200 : 400], {
      names: owners.list(account.id).map((proof) => ownedRow(app, proof)),
      problem: null,
      given: { hostname: c.req.query('hostname') ?? '' },
      ...result,
    });

  /** The watched hostnames that a proof covers: the name, and those of the account's groups. */
  const hostsOf = ({ account, name, path, registrable }: OwnerProof) => {
    const below = watchGroups.hostsOf(account).filter((hostname) => hostname.endsWith(`.${name}`));
    return [name, ...below]
      .flatMap((hostname) => store.records.find(hostname) ?? [])
      .filter((host) => host.hostname === name || (host.registrable_domain === registrable && path !== ''))
      .slice(0, HOSTS);
  };
  const changesOf = (proof: OwnerProof) => {
    const notes = new Map(owners.notes(proof.account).map(({ delta, note }) => [delta, note]));
    return hostsOf(proof)
      .flatMap(({ id }) => store.records.deltas({ host: id }, { limit: CHANGES }))
      .sort((a, b) => b.seq - a.seq)
      .slice(0, CHANGES)
      .map((delta) => ({ ...changeView(delta), own_note: notes.get(delta.seq) ?? '' }));
  };
  const sendName = (c: RecordsContext, proof: OwnerProof, result: Partial<NameView> = {}) => {
    const isProven = proof.proven_at !== null;
    return sendAccountPage(pages, c, ['/account/name', proof.name, result.problem == null ? 200 : 400], {
      name: ownedRow(app, proof),
      hosts: hostsOf(proof).map(({ hostname, unicode, state, looked_at }) => ({
        ...{ hostname, unicode, state },
        looked_at: state === 'opted_out' ? null : isoOrNull(looked_at),
        looks_left: looksRowOf(app, hostname).left,
      })),
      changes: isProven ? changesOf(proof) : [],
      events: owners.events(proof.name, proof.account).map(eventRow),
      problem: null,
      given: null,
      ...result,
    });
  };
  const proofOf = (c: RecordsContext, { account }: SignedIn) =>
    requireProof(app, account.id, c.req.param('hostname') ?? '');
  const pathOf = ({ name }: Pick<OwnerProof, 'name'>) => `/account/names/${name}`;
  /** Does what a form of a name's page asks for, and says on that page what was wrong. */
  type Work = (
    c: RecordsContext,
    signed: SignedIn,
    proof: OwnerProof,
    field: (name: string) => string,
  ) => Promise<string | Answer> | string;
  const onName = (work: Work) =>
    signedInForm(settings, async (c, signed, form) => {
      const proof = proofOf(c, signed);
      try {
        const said = await work(c, signed, proof, (name) => form.text(name));
        return answered(c, signed, pathOf(proof), typeof said === 'string' ? answer(said) : said);
      } catch (error) {
        return answered(c, signed, pathOf(proof), answer(problemOf(error), null, 'warn'));
      }
    });
  const seqOf = (c: RecordsContext): number => {
    const seq = Number(c.req.param('seq'));
    if (Number.isSafeInteger(seq) && seq > 0) return seq;
    throw new Fault('not_found', 'there is no such change; the page of the name lists its newest');
  };

  return {
    list: signedInPage((c, signed) => sendList(c, signed)),
    begin: signedInForm(settings, (c, signed, form) => {
      const hostname = form.text('hostname').trim();
      try {
        const proof = beginProof(app, signed.account.id, hostnameOfField(hostname, 'hostname'), randomBytes);
        return c.redirect(pathOf(proof), 303);
      } catch (error) {
        return sendList(c, signed, { problem: problemAt(error), given: { hostname } });
      }
    }),
    show: signedInPage((c, signed) => sendName(c, proofOf(c, signed))),
    check: onName(async (_c, _signed, before) => {
      const { proof, event, alert } = await check(before);
      const { name } = proof;
      const warn = (text: string) => answer(text, null, 'warn');
      if (event === 'proven') {
        return `${name} is proven to be yours.${alert === null ? '' : ' Its changes are mailed to you from now on.'}`;
      }
      if (event === 'ended') return warn(`The proof of ${name} is still not there, a week after: it has ended.`);
      if (proof.missing_at !== null) return warn(`The proof of ${name} was not found. It stays in force for a week.`);
      if (proof.proven_at !== null) return `${name} is still proven to be yours.`;
      return warn(`The proof of ${name} was not found yet: see below what each place said.`);
    }),
    look: onName(async (_c, { account }, proof, field) => {
      const { record, changes, left } = await look(account.id, field('hostname') || proof.name);
      const lines = changes.slice(0, NAMED).map(changeLine);
      const more = changes.length > NAMED ? ` And ${changes.length - NAMED} more.` : '';
      const said = lines.length === 0 ? 'nothing has changed.' : `${lines.join('; ')}.${more}`;
      const at = `${record.observed_at.slice(11, 19)} UTC`;
      return `${record.domain} was observed at ${at}: ${said} Immediate observations left today: ${left}.`;
    }),
    opt: signedInForm(settings, (c, signed, form) => {
      const proof = proofOf(c, signed);
      try {
        const opt = form.oneOf('opt', ['in', 'out'] as const);
        const { hostname } = setOpt(app, signed.account.id, form.text('hostname') || proof.name, opt);
        const state = optRowOf(app, signed.account.id, hostname);
        const reverse = { action: `${pathOf(proof)}/opt`, fields: { hostname, opt: opt === 'in' ? 'out' : 'in' } };
        const label = opt === 'in' ? 'Opt it out again' : 'Opt it in again';
        const text = state.opted_out
          ? opt === 'out'
            ? `${hostname} is opted out, with the names below it: it is neither observed nor shown from now on.`
            : `${hostname} stays opted out: ${BY[state.by ?? 'operator']} opted ${state.name} out.`
          : `${hostname} is opted in: it is observed and shown again.`;
        const undo = state.opted_out === (opt === 'out') ? { ...reverse, label } : null;
        return answered(c, signed, pathOf(proof), answer(text, undo, undo === null ? 'warn' : 'good'));
      } catch (error) {
        return answered(c, signed, pathOf(proof), answer(problemOf(error), null, 'warn'));
      }
    }),
    giveUp: signedInForm(settings, (c, signed) => {
      const proof = proofOf(c, signed);
      try {
        giveUpProof(app, signed.account.id, proof.name);
      } catch (error) {
        return answered(c, signed, pathOf(proof), answer(problemOf(error), null, 'warn'));
      }
      const text = `${proof.name} is given up, with your notes on its changes. Take the record or the file away; a new proof has another text.`;
      return answered(c, signed, '/account/names', answer(text));
    }),
    note: signedInForm(settings, (c, signed, form) => {
      const proof = proofOf(c, signed);
      const [seq, note] = [seqOf(c), form.text('note')];
      try {
        requireOwned(app, signed.account.id, proof.name);
        putNote(app, signed.account.id, seq, note);
      } catch (error) {
        return sendName(c, proof, { problem: problemAt(error), given: { seq, note } });
      }
      const undo = { action: `${pathOf(proof)}/changes/${seq}/note/remove`, label: 'Remove it', fields: {} };
      return answered(c, signed, pathOf(proof), answer(`Your note stands beside change ${seq} from now on.`, undo));
    }),
    removeNote: onName((c, { account }) => {
      const seq = seqOf(c);
      removeNote(app, account.id, seq);
      return `Your note on change ${seq} is removed.`;
    }),
  };
}

const BY = { you: 'you', another_owner: 'another owner', operator: 'the operator' };
