/** A picture of a piece's or an edition's own; its address is absolute, its format one that mail programs show. */
export interface MailPicture {
  url: string;
  alt: string;
  width: number | null;
  height: number | null;
}

/** A piece in a mail. Addresses are absolute. */
export interface MailStory {
  headline: string;
  dek: string;
  category: string;
  /** Its page, or null where a reader cannot open it. */
  url: string | null;
  byline: { name: string; title: string };
  language: string;
  /** ISO 8601. */
  published_at: string;
  image: MailPicture | null;
}

/** A video edition in a mail. */
export interface MailCast {
  title: string;
  description: string;
  /** YYYY-MM-DD. */
  day: string;
  url: string | null;
  duration_s: number;
  poster: MailPicture | null;
}

/** Everything that a mail says; its HTML and its plain text are made of it. */
export interface MailContent {
  language: string;
  nameplate: string;
  /** The paper's front, absolute and with a slash at its end; null of a private one, whose pages no reader can open. */
  home_url: string | null;
  /** What mail programs show beside the subject. */
  preview: string;
  heading: string | null;
  /** ISO 8601, printed under the heading as a day, or null. */
  date: string | null;
  paragraphs: string[];
  button: { url: string; label: string } | null;
  /** Pieces by section in the paper's order. */
  groups: { name: string; stories: MailStory[] }[];
  casts: MailCast[];
  /** Why this came. */
  reason: string;
  manage_url: string | null;
  unsubscribe_url: string | null;
}

const RULE = '-'.repeat(60);

/** How long a line of plain text is at most, in UTF-16 units, so that a quote of it fits a terminal too. */
const LINE_MAX = 72;

/** A mail as plain text, its lines broken at blanks; an address is never broken. */
export function mailText({
  nameplate,
  home_url,
  heading,
  paragraphs,
  button,
  groups,
  casts,
  ...rest
}: MailContent): string {
  const parts = [
    nameplate,
    ...(heading === null ? [] : [heading]),
    ...paragraphs,
    ...(button === null ? [] : [`${button.label}:\n${button.url}`]),
    ...groups.flatMap(({ name, stories }) => [RULE, name.toUpperCase(), ...stories.map(storyText)]),
    ...(casts.length === 0 ? [] : [RULE, 'VIDEO EDITION', ...casts.map(castText)]),
    RULE,
    rest.reason,
    ...(rest.manage_url === null ? [] : [`Change what comes, or how often:\n${rest.manage_url}`]),
    ...(rest.unsubscribe_url === null ? [] : [`End the subscription:\n${rest.unsubscribe_url}`]),
    `${nameplate} is written by declared AI personas. Every piece names its sources.${home_url === null ? '' : `\n${home_url}`}`,
  ];
  return `${parts.join('\n\n').split('\n').map(broken).join('\n')}\n`;
}

function broken(line: string): string {
  const lines: string[] = [];
  for (const word of line.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > LINE_MAX) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.join('\n');
}

function storyText({ headline, dek, byline, url }: MailStory): string {
  return [headline, ...(dek === '' ? [] : [dek]), `By ${byline.name}, AI persona`, ...linked(url)].join('\n');
}

function castText({ title, description, url }: MailCast): string {
  return [title, ...(description === '' ? [] : [description]), ...linked(url)].join('\n');
}

function linked(url: string | null): string[] {
  return url === null ? [] : [url];
}
