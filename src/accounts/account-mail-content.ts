/** What changed at one hostname, in a mail. */
export interface MailedHost {
  hostname: string;
  /** Its page, absolute. */
  url: string;
  /** Each change in one line of plain text, oldest first. `at` is ISO 8601. */
  changes: { line: string; at: string }[];
}

/** Everything that a mail of the domain records says; its HTML and its plain text are made of it. */
export interface AccountMailContent {
  /** Public address of the service, without a slash at its end. */
  root: string;
  /** What mail programs show beside the subject. */
  preview: string;
  heading: string;
  paragraphs: string[];
  button: { url: string; label: string } | null;
  hosts: MailedHost[];
  /** How many changes there are beyond those named. */
  unnamed: number;
  /** Why this came. */
  reason: string;
  links: { url: string; label: string }[];
}

const RULE = '-'.repeat(60);

/** A mail as plain text: lines are left to the mail program to break. */
export function accountMailText({
  root,
  heading,
  paragraphs,
  button,
  hosts,
  unnamed,
  reason,
  links,
}: AccountMailContent): string {
  const parts = [
    'DOMAIN RECORDS',
    heading,
    ...paragraphs,
    ...(button === null ? [] : [`${button.label}:\n${button.url}`]),
    ...hosts.map(({ hostname, url, changes }) =>
      [RULE, hostname, ...changes.map(({ line, at }) => `${momentOf(at)}  ${line}`), url].join('\n'),
    ),
    ...(unnamed === 0 ? [] : [`And ${unnamed} more, on the pages of the service.`]),
    RULE,
    reason,
    ...links.map(({ url, label }) => `${label}:\n${url}`),
    `${root}/`,
  ];
  return `${parts.join('\n\n')}\n`;
}

/** To the minute, in UTC: `2026-11-21 09:30`. */
function momentOf(iso: string): string {
  return iso.slice(0, 16).replace('T', ' ');
}
