import type { AccountMailContent, MailedHost } from './account-mail-content.ts';

/** How many changes a mail names; of the others it says how many they are. */
const NAMED_MAX = 60;

/** A change as a mail tells it. `at` is ISO 8601. */
export interface MailedChange {
  hostname: string;
  line: string;
  at: string;
}

export interface ChangeMailLinks {
  /** Public address of the service, without a slash at its end. */
  root: string;
  /** Opens the page that ends these mails. */
  unsubscribe: string;
}

/** What a mail of changes says; they are in the order of their hostnames. */
export function changeContent(
  kind: 'changes' | 'digest',
  changes: MailedChange[],
  { root, unsubscribe }: ChangeMailLinks,
): { subject: string; matter: AccountMailContent } {
  const names = [...new Set(changes.map(({ hostname }) => hostname))];
  const [first = ''] = names;
  const many = `${changes.length} ${changes.length === 1 ? 'change' : 'changes'} at ${names.length} ${names.length === 1 ? 'hostname' : 'hostnames'}`;
  const subject = kind === 'digest' ? `Daily digest: ${many}` : subjectOf(first, names.length);
  const matter: AccountMailContent = {
    root,
    preview: changes[0]?.line ?? many,
    heading: kind === 'digest' ? 'Daily digest' : subject,
    paragraphs: [`${many}, as observed and signed.`],
    button: null,
    hosts: hostsOf(root, changes.slice(0, NAMED_MAX)),
    unnamed: Math.max(0, changes.length - NAMED_MAX),
    reason: 'You asked for this on the page of your account.',
    links: [
      { url: `${root}/account/alerts`, label: 'Change your alerts' },
      { url: unsubscribe, label: 'Stop these mails' },
    ],
  };
  return { subject, matter };
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
    // The name stands above.
    host.changes.push({ line: line.startsWith(`${hostname} `) ? line.slice(hostname.length + 1) : line, at });
  }
  return [...hosts.values()];
}
