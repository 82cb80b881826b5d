import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { fill } from '../../phrases/fill.ts';
import type { Phrases } from '../../phrases/phrases.ts';
import { phrasesOf } from '../../phrases/tables.ts';
import type { Mail, MailJob } from './mail.ts';
import type { Link, MailCast, MailContent, MailStory, PaperMail, RecordsMail } from './mail-content.ts';

/** The sender of a mail: a paper, or the domain records. */
interface Sender {
  name: string;
  /** Absolute root URL, without a trailing slash. */
  root: string;
  /** The address for replies. Without one, mails come from a no-reply address of the host. */
  contact?: string | undefined;
}

/** A mail with its template, before it is rendered and addressed. */
export interface Letter {
  from: Sender;
  subject: string;
  headers: Record<string, string>;
  content: MailContent;
}

/** Renders a mail's HTML. */
export type RenderMail = (content: MailContent) => Promise<string>;

/** Makes a mail to one address from a letter and its HTML. */
export function mailOf({ id }: MailJob, to: string, { from, subject, headers, content }: Letter, html: string): Mail {
  const { name, root, contact } = from;
  const host = new URL(root).hostname;
  return {
    from: { name, address: contact ?? `no-reply@${host}` },
    ...(contact === undefined ? {} : { replyTo: contact }),
    to,
    messageId: `<${id}@${host}>`,
    subject,
    headers,
    text: mailText(content),
    html,
  };
}

/** Prevents vacation replies to an automatic mail (RFC 3834, section 5). */
export const AUTO_GENERATED = { 'Auto-Submitted': 'auto-generated' };

/** The headers of a mailing list. `list` is its permanent name (RFC 2919). */
export function listHeaders(list: string, unsubscribeUrl: string): Record<string, string> {
  return {
    'List-Id': `<${list}>`,
    'List-Unsubscribe': `<${unsubscribeUrl}>`,
    // RFC 8058, section 2: a POST of this to the URL above unsubscribes, without a page in between.
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  };
}

const RULE = '-'.repeat(60);

/** The longest line of a paper's mail, in UTF-16 units, so that a quoted line still fits a terminal. */
const LINE_MAX = 72;

/** A mail as plain text. */
export function mailText(content: MailContent): string {
  return content.template === 'paper' ? paperText(content) : recordsText(content);
}

/** Lines break at spaces; URLs are never broken. */
function paperText({ nameplate, home_url, heading, groups, casts, language, ...content }: PaperMail): string {
  const phrases = phrasesOf(language);
  const { reader, mail: t } = phrases;
  const parts = [
    nameplate,
    ...(heading === null ? [] : [heading]),
    ...content.paragraphs,
    ...buttonText(content.button),
    ...groups.flatMap(({ name, stories }) => [
      RULE,
      name.toLocaleUpperCase(language),
      ...stories.map((story) => storyText(phrases, story)),
    ]),
    ...castTexts(
      casts.filter(({ is_audio }) => !is_audio),
      t.video.toLocaleUpperCase(language),
    ),
    ...castTexts(
      casts.filter(({ is_audio }) => is_audio),
      t.audio.toLocaleUpperCase(language),
    ),
    RULE,
    content.reason,
    ...(content.manage_url === null ? [] : [`${t.manage}:\n${content.manage_url}`]),
    ...(content.unsubscribe_url === null ? [] : [`${reader.end}:\n${content.unsubscribe_url}`]),
    `${fill(t.paper_run_by, { paper: nameplate })}${home_url === null ? '' : `\n${home_url}`}`,
  ];
  return `${parts.join('\n\n').split('\n').map(wrapped).join('\n')}\n`;
}

/** Line breaks are left to the mail client. */
function recordsText({ root, heading, paragraphs, button, hosts, unnamed, reason, links }: RecordsMail): string {
  const parts = [
    'DOMAIN RECORDS',
    heading,
    ...paragraphs,
    ...buttonText(button),
    ...hosts.map(({ hostname, url, changes }) =>
      [RULE, hostname, ...changes.map(({ line, at }) => `${minuteOf(at)}  ${line}`), url].join('\n'),
    ),
    ...(unnamed === 0 ? [] : [`And ${unnamed} more, on the pages of the service.`]),
    RULE,
    reason,
    ...links.map(({ url, label }) => `${label}:\n${url}`),
    `${root}/`,
  ];
  return `${parts.join('\n\n')}\n`;
}

function buttonText(button: Link | null): string[] {
  return button === null ? [] : [`${button.label}:\n${button.url}`];
}

function wrapped(line: string): string {
  const lines: string[] = [];
  for (const word of line.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > LINE_MAX) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.join('\n');
}

function storyText(
  { byline: t, story }: Phrases,
  { headline, dek, byline, writer, is_archived, url }: MailStory,
): string {
  const persona = fill(t.declared, { name: byline.name });
  const signed = writer === null ? fill(t.by, { writer: persona }) : fill(t.written, { writer, persona });
  return [headline, ...(dek === '' ? [] : [dek]), signed, ...(is_archived ? [story.archive] : []), ...linked(url)].join(
    '\n',
  );
}

function castTexts(casts: readonly MailCast[], heading: string): string[] {
  return casts.length === 0 ? [] : [RULE, heading, ...casts.map(castText)];
}

function castText({ title, description, url }: MailCast): string {
  return [title, ...(description === '' ? [] : [description]), ...linked(url)].join('\n');
}

function linked(url: string | null): string[] {
  return url === null ? [] : [url];
}

/** To the minute, in UTC: `2026-11-21 09:30`. */
function minuteOf(iso: string): string {
  return iso.slice(0, 16).replace('T', ' ');
}

/** The number of cached letters. */
const KEPT = 64;

/** Caches letters to many people: each is rendered once, and its copies differ only in their own links. */
export class SharedLetters {
  readonly #render: RenderMail;
  /** Placeholder for a reader's token in cached letters. No piece can contain it. */
  readonly #blank = `reader-${randomBytes(16).toString('hex')}`;
  readonly #rendered = new LRUCache<string, Promise<{ letter: Letter; html: string } | null>>({ max: KEPT });

  constructor(render: RenderMail) {
    this.#render = render;
  }

  /** A reader's copy of the letter with a key; null when there is none. `write` gets the token for its links. */
  async copyFor(
    job: MailJob,
    to: string,
    { key, token, write }: { key: string; token: () => string; write: (token: string) => Letter | null },
  ): Promise<Mail | null> {
    let rendering = this.#rendered.get(key);
    if (rendering === undefined) {
      rendering = this.#renderOnce(write);
      this.#rendered.set(key, rendering);
      // Failed letters are rendered again the next time.
      rendering.catch(() => this.#rendered.delete(key));
    }
    const rendered = await rendering;
    if (rendered === null) return null;
    const own = token();
    const filled = (text: string) => text.replaceAll(this.#blank, own);
    const { text, headers, ...mail } = mailOf(job, to, rendered.letter, filled(rendered.html));
    return {
      ...mail,
      text: filled(text),
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, filled(value)])),
    };
  }

  async #renderOnce(write: (token: string) => Letter | null) {
    const letter = write(this.#blank);
    return letter === null ? null : { letter, html: await this.#render(letter.content) };
  }
}
