import { fill } from '../phrases/fill.ts';
import type { Phrases } from '../phrases/phrases.ts';
import { phrasesOf } from '../phrases/tables.ts';
import type { Link, MailCast, MailContent, MailStory, PaperMail, RecordsMail } from './mail-content.ts';

const RULE = '-'.repeat(60);

/** The longest line of a paper's mail, in UTF-16 units, so that a quoted line still fits a terminal. */
const LINE_MAX = 72;

/** A mail as plain text. */
export function mailText(content: MailContent): string {
  return content.template === 'paper' ? paperText(content) : recordsText(content);
}

/** Lines break at spaces; URLs are never broken. */
function paperText({ nameplate, home_url, heading, groups, casts, language, ...content }: PaperMail): string {
  const t = phrasesOf(language).mail;
  const parts = [
    nameplate,
    ...(heading === null ? [] : [heading]),
    ...content.paragraphs,
    ...buttonText(content.button),
    ...groups.flatMap(({ name, stories }) => [
      RULE,
      name.toLocaleUpperCase(language),
      ...stories.map((story) => storyText(t, story)),
    ]),
    ...(casts.length === 0 ? [] : [RULE, t.video.toLocaleUpperCase(language), ...casts.map(castText)]),
    RULE,
    content.reason,
    ...(content.manage_url === null ? [] : [`${t.manage}:\n${content.manage_url}`]),
    ...(content.unsubscribe_url === null ? [] : [`${t.end}:\n${content.unsubscribe_url}`]),
    `${fill(t.paper_written_by, { paper: nameplate })}${home_url === null ? '' : `\n${home_url}`}`,
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

function storyText(t: Phrases['mail'], { headline, dek, byline, writer, url }: MailStory): string {
  const signed =
    writer === null ? fill(t.by, { writer: byline.name }) : fill(t.written, { writer, persona: byline.name });
  return [headline, ...(dek === '' ? [] : [dek]), signed, ...linked(url)].join('\n');
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
