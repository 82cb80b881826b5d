import { isoTime } from '../../proof/time.ts';
import { AUTO_GENERATED, type Letter, listHeaders } from '../../shared/outbound/letter.ts';
import type { MailProgress, MailQueue } from '../../shared/outbound/mail.ts';
import type { MailedHost, RecordsMail } from '../../shared/outbound/mail-content.ts';
import { plural } from '../../shared/plural.ts';
import type { ExpectationEvent } from '../expectations.ts';
import { HAPPENED } from './alert-body.ts';

/**
 * The kinds of mail to accounts: a sign-in link, changes as they happen, a daily digest of changes, a test, a plan's
 * purchase or end, and the outcome of proving a name.
 */
export const ACCOUNT_MAIL_KINDS = ['sign-in', 'changes', 'digest', 'test', 'plan', 'ownership'] as const;
type AccountMailKind = (typeof ACCOUNT_MAIL_KINDS)[number];

/** A mail in the queue. Its text is composed when it is sent. */
interface AccountMail {
  /** A lower-case ULID, from which the Message-ID is derived. */
  id: string;
  /** Null for sign-in mails: the account may not exist yet. */
  account: string | null;
  email: string;
  kind: AccountMailKind;
  /** The earliest time to send it, in ms. */
  due_at: number;
}

export interface AccountMailRecord extends AccountMail, MailProgress {}

export interface AccountMailTable extends MailQueue<AccountMailRecord> {
  queue(mail: AccountMail): void;
  /** An account's mails, oldest first. */
  ofAccount(account: string): AccountMailRecord[];
  dropEmail(email: string): void;
  /** Deletes mails settled at or before `until`; sign-in mails settled at or before `signInsUntil`. */
  forget(until: number, signInsUntil: number): void;
}

export interface RecordsLetter {
  subject: string;
  headers: Record<string, string>;
  content: Pick<RecordsMail, 'preview' | 'heading' | 'reason'> & Partial<Omit<RecordsMail, 'template' | 'root'>>;
}

const EMPTY = { paragraphs: [], button: null, hosts: [], unnamed: 0, links: [] };

export function fromRecords(root: string, { subject, headers, content }: RecordsLetter): Letter {
  return {
    from: { name: 'Domain Records', root },
    subject,
    headers,
    content: { template: 'records', root, ...EMPTY, ...content },
  };
}

export function signInMail(root: string, email: string, token: string): RecordsLetter {
  return {
    subject: 'Your link to sign in',
    headers: AUTO_GENERATED,
    content: {
      preview: 'The link is valid for 30 minutes and works once.',
      heading: 'Sign in to Domain Records',
      paragraphs: [
        `Somebody, we hope you, asked to sign in with ${email}.`,
        'The link opens a page with one button, which signs you in there. It is valid for 30 minutes and works once. If this address has no account yet, the button creates one.',
      ],
      button: { url: `${root}/account/enter?token=${token}`, label: 'Sign in' },
      reason: 'If it was not you, do nothing: without that button nobody is signed in, and nothing was changed.',
    },
  };
}

/** A test mail that the account requested. `covered` lists what its mail alerts cover. */
export function testMail(root: string, covered: readonly string[]): RecordsLetter {
  return {
    subject: 'Test: mails of changes reach you',
    headers: AUTO_GENERATED,
    content: {
      preview: 'You asked for this test on the page of your account.',
      heading: 'Mails of changes reach you',
      paragraphs: [
        'This is a test; nothing has changed. A mail of changes comes from the same address and looks like this one.',
        `Your mail alerts cover ${covered.join(', ')}.`,
      ],
      reason: 'You asked for this on the page of your account.',
      links: [{ url: `${root}/account/alerts`, label: 'Change your alerts' }],
    },
  };
}

/** Tells an account that its proof of a name is missing, has ended or was revoked. `ends_at` is ISO 8601. */
export function ownershipMail(
  root: string,
  name: string,
  happened: { event: 'missing'; ends_at: string } | { event: 'ended' } | { event: 'revoked'; reason: string },
): RecordsLetter {
  const consequences =
    'Alerts go on as you set them. The name is probed as often as others again, your notes on its changes are not shown, and an opt-out of yours stays in force.';
  const said = {
    missing: {
      subject: `${name}: the proof that it is yours is missing`,
      paragraphs: [
        `We looked for the proof that ${name} is yours, and it was not there.`,
        `Put it back, and nothing changes. If it is still missing when we look again, the proof ends: ${happened.event === 'missing' ? happened.ends_at : ''}.`,
      ],
      reason: 'You proved this name on the pages of your account.',
    },
    ended: {
      subject: `${name}: the proof that it is yours has ended`,
      paragraphs: [`Twice, a week apart, the proof that ${name} is yours was not there, so it ended.`, consequences],
      reason: 'You proved this name on the pages of your account. You can prove it again there.',
    },
    revoked: {
      subject: `${name}: the proof that it is yours was revoked`,
      paragraphs: [
        `The operator of this service revoked the proof that ${name} is yours: ${happened.event === 'revoked' ? happened.reason : ''}`,
        consequences,
      ],
      reason: 'You proved this name on the pages of your account.',
    },
  }[happened.event];
  return {
    subject: said.subject,
    headers: AUTO_GENERATED,
    content: {
      preview: said.paragraphs[0] ?? '',
      heading: said.subject,
      paragraphs: said.paragraphs,
      button: { url: `${root}/account/names/${name}`, label: 'Open the name' },
      reason: said.reason,
    },
  };
}

/** A mail as the account's log shows it: its kind, its state and when (ISO 8601). */
export function accountMailRow({ kind, state, due_at, settled_at, attempts, error }: AccountMailRecord) {
  return { kind, state, at: isoTime(settled_at ?? due_at), attempts, error };
}

/** A mail lists at most this many changes and counts the rest. */
const LISTED_MAX = 60;

/** A change in a mail. `at` is ISO 8601. */
interface MailedChange {
  hostname: string;
  line: string;
  at: string;
  /** For an event of an expectation: its kind. */
  kind?: ExpectationEvent['kind'];
}

/** Composes a mail of changes and expectation events, either immediate or daily, grouped by hostname. */
export function changeMail(
  kind: 'changes' | 'digest',
  changes: MailedChange[],
  { root, unsubscribe }: { root: string; unsubscribe: string },
): RecordsLetter {
  const names = [...new Set(changes.map(({ hostname }) => hostname))];
  const noun = changes.some(({ kind }) => kind !== undefined) ? 'finding' : 'change';
  const many = `${plural(changes.length, noun)} at ${plural(names.length, 'hostname')}`;
  const subject = kind === 'digest' ? `Daily digest: ${many}` : subjectOf(changes, names);
  return {
    subject,
    headers: { ...AUTO_GENERATED, ...listHeaders(`changes.${new URL(root).hostname}`, unsubscribe) },
    content: {
      preview: changes[0]?.line ?? many,
      heading: kind === 'digest' ? 'Daily digest' : subject,
      paragraphs: [`${many}, as observed and signed.`],
      hosts: hostsOf(root, changes.slice(0, LISTED_MAX)),
      unnamed: Math.max(0, changes.length - LISTED_MAX),
      reason: 'You asked for this on the page of your account.',
      links: [
        { url: `${root}/account/alerts`, label: 'Change your alerts' },
        { url: unsubscribe, label: 'Stop these mails' },
      ],
    },
  };
}

function subjectOf(changes: MailedChange[], names: string[]): string {
  const others = names.length - 1;
  for (const [kind, happened] of Object.entries(HAPPENED)) {
    const row = changes.find((change) => change.kind === kind);
    if (row === undefined) continue;
    return `${row.hostname} ${happened}${others === 0 ? '' : ` (and ${others} ${others === 1 ? 'other' : 'others'})`}`;
  }
  const [first = ''] = names;
  return others === 0 ? `${first} changed` : `${first} and ${others} ${others === 1 ? 'other' : 'others'} changed`;
}

function hostsOf(root: string, changes: MailedChange[]): MailedHost[] {
  const hosts = new Map<string, MailedHost>();
  for (const { hostname, line, at } of changes) {
    const host = hosts.get(hostname) ?? { hostname, url: `${root}/t/${hostname}`, changes: [] };
    hosts.set(hostname, host);
    // The heading above already names the host.
    host.changes.push({ line: line.startsWith(`${hostname} `) ? line.slice(hostname.length + 1) : line, at });
  }
  return [...hosts.values()];
}
