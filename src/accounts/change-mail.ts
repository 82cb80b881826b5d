import { AUTO_GENERATED, listHeaders } from '../outbound/letter.ts';
import type { MailedHost } from '../outbound/mail-content.ts';
import type { RecordsLetter } from './records-letter.ts';

/** The most changes that a mail lists. It counts the others. */
const LISTED_MAX = 60;

/** A change in a mail. `at` is ISO 8601. */
export interface MailedChange {
  hostname: string;
  line: string;
  at: string;
}

export interface ChangeMailLinks {
  /** Public address of the service, without a trailing slash. */
  root: string;
  /** The URL of the page that unsubscribes. */
  unsubscribe: string;
}

/** Composes a mail of changes, either immediate or daily. The changes are ordered by hostname. */
export function changeMail(
  kind: 'changes' | 'digest',
  changes: MailedChange[],
  { root, unsubscribe }: ChangeMailLinks,
): RecordsLetter {
  const names = [...new Set(changes.map(({ hostname }) => hostname))];
  const [first = ''] = names;
  const many = `${changes.length} ${changes.length === 1 ? 'change' : 'changes'} at ${names.length} ${names.length === 1 ? 'hostname' : 'hostnames'}`;
  const subject = kind === 'digest' ? `Daily digest: ${many}` : subjectOf(first, names.length);
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

function subjectOf(first: string, count: number): string {
  if (count === 1) return `${first} changed`;
  return `${first} and ${count - 1} ${count === 2 ? 'other' : 'others'} changed`;
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
