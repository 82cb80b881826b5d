import { fill } from '../../phrases/fill.ts';
import { phrasesOf, plural } from '../../phrases/tables.ts';
import { isoTime } from '../../proof/time.ts';
import { AUTO_GENERATED, type Letter, listHeaders } from '../../shared/outbound/letter.ts';
import type { MailCast, MailPicture, MailStory, PaperMail } from '../../shared/outbound/mail-content.ts';
import type { Archive, Row } from '../archive.ts';
import { writerLine } from '../door/writers.ts';
import type { Cast } from '../papers/cast.ts';
import { contactMail, type Paper, type PaperRecord, paperRoot } from '../papers/paper.ts';
import { choicesInWords } from './choices.ts';
import type { StoredEvent } from './event-table.ts';
import { mailColors } from './mail-colors.ts';
import type { Cadence, Subscriber } from './subscriber.ts';

/** Members that every mail of a paper has. */
type Common = 'template' | 'language' | 'nameplate' | 'home_url' | 'colors';

/** The content of a mail from a paper. */
export interface PaperLetter {
  subject: string;
  headers: Record<string, string>;
  content: Pick<PaperMail, 'preview' | 'reason'> & Partial<Omit<PaperMail, Common>>;
}

const EMPTY = {
  heading: null,
  date: null,
  paragraphs: [],
  button: null,
  groups: [],
  casts: [],
  manage_url: null,
  unsubscribe_url: null,
};

/** A letter from a paper. `origin` is that of the shared host. */
export function fromPaper(
  paper: Paper,
  origin: string,
  colors: PaperMail['colors'],
  { subject, headers, content }: PaperLetter,
): Letter {
  const { nameplate, language } = paper;
  const root = mailRoot(paper, origin);
  const home_url = paper.paper_public ? `${root}/` : null;
  return {
    from: { name: nameplate, root, contact: contactMail(paper) },
    subject,
    headers,
    content: { template: 'paper', language, nameplate, home_url, colors, ...EMPTY, ...content },
  };
}

/** A paper's root for links in its mails. Reader pages of a private paper are on the shared host. */
export function mailRoot(paper: Paper, origin: string): string {
  return paper.paper_public ? paperRoot(paper, origin) : `${origin}/${paper.slug}`;
}

/** The mail that asks a reader to confirm: the only one sent to an unconfirmed address. `root` is the paper's. */
export function confirmMail(
  row: Subscriber,
  paper: Paper,
  casts: readonly Cast[],
  root: string,
  token: string,
): PaperLetter {
  const { nameplate, language } = paper;
  const { reader, mail: t } = phrasesOf(language);
  return {
    subject: fill(t.confirm_subject, { paper: nameplate }),
    // Marks it as a response to a request, not as list mail: prevents vacation replies (RFC 3834, section 5).
    headers: { 'Auto-Submitted': 'auto-replied' },
    content: {
      preview: t.confirm_preview,
      heading: reader.confirm_title,
      paragraphs: [
        fill(t.confirm_what, { paper: nameplate, choices: choicesInWords(language, row.asked ?? row, casts) }),
        t.confirm_note,
      ],
      button: { url: `${root}/subscribe/confirm?token=${token}`, label: t.confirm },
      reason: t.confirm_reason,
    },
  };
}

/** Picture formats that mail programs show; they do not show SVG. */
const SHOWN = /\.(?:jpe?g|png|gif|webp)$/i;

/**
 * A sample daily mail with these pieces, for display on a page: its links to change or end the subscription lead to the
 * form. `root` may be a path.
 */
export function sampleMail(archive: Pictured, paper: PaperRecord, root: string, pieces: [Row, ...Row[]]): PaperMail {
  const { nameplate, language, hue } = paper;
  const [newest] = pieces;
  const t = phrasesOf(language).mail;
  return {
    ...EMPTY,
    ...{ template: 'paper', language, nameplate, colors: mailColors(hue) },
    home_url: `${root}/`,
    preview: newest.dek || newest.headline,
    heading: t.new,
    date: isoTime(newest.published_at),
    groups: groupsOf(archive, paper, root, pieces),
    reason: t.daily_reason,
    manage_url: `${root}/subscribe/`,
    unsubscribe_url: `${root}/subscribe/`,
  };
}

/** The subject of an alert or a digest. */
interface Subject {
  kind: Cadence;
  /** The id of the piece, or the day. */
  about: string;
  events: StoredEvent[];
}

/**
 * Composes an alert or a digest with the present versions of its pieces, without those withdrawn since. Returns null
 * when none are left. `root` is the paper's, without a trailing slash; `token` opens the reader's own pages.
 */
export function alertMail(
  archive: Archive,
  paper: Paper,
  root: string,
  { kind, about, events }: Subject,
  token: string,
): PaperLetter | null {
  const pieces = events.flatMap((event) =>
    event.type === 'story.aired' ? (rowOnAir(archive, event.story.id) ?? []) : [],
  );
  const casts = events.flatMap((event) =>
    event.type === 'cast.published' ? castOf(archive, paper, root, event.cast.day) : [],
  );
  const [preview] = [...pieces.map(({ dek, headline }) => dek || headline), ...casts.map(({ title }) => title)];
  if (preview === undefined) return null;
  const groups = groupsOf(archive, paper, root, pieces);
  const t = phrasesOf(paper.language).mail;
  const reason = t[`${kind}_reason`];
  const unsubscribe_url = `${root}/subscribe/unsubscribe?token=${token}`;
  return {
    subject: subjectOf(paper.language, groups, casts),
    headers: { ...listHeaders(`${paper.slug}.${new URL(root).hostname}`, unsubscribe_url), ...AUTO_GENERATED },
    content: {
      preview,
      heading: kind === 'daily' ? t.new : kind === 'weekly' ? t.week : null,
      date: kind === 'instant' ? null : `${about}T00:00:00.000Z`,
      groups,
      casts,
      reason: paper.paper_public ? reason : `${reason} ${t.private}`,
      manage_url: `${root}/subscribe/manage?token=${token}`,
      unsubscribe_url,
    },
  };
}

/** The headline of the first piece, or the title of the edition, and how many others there are. */
function subjectOf(language: string, groups: PaperMail['groups'], casts: readonly MailCast[]): string {
  const titles = [
    ...groups.flatMap(({ stories }) => stories.map(({ headline }) => headline)),
    ...casts.map(({ title }) => title),
  ];
  const line = (titles[0] ?? '').replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
  const more = titles.length - 1;
  if (more < 1) return line;
  return fill(plural(language, phrasesOf(language).mail.subject_more, more), { headline: line });
}

function rowOnAir(archive: Archive, id: string): Row | null {
  const story = archive.storyById(id);
  return story?.state === 'on_air' ? story : null;
}

/** Pieces by section in the paper's order, newest first. Sections that the paper no longer has come last. */
function groupsOf(archive: Pictured, paper: PaperRecord, root: string, pieces: Row[]): PaperMail['groups'] {
  const names = new Set([...paper.sections, ...pieces.map(({ category }) => category)]);
  return [...names].flatMap((name) => {
    const stories = pieces
      .filter(({ category }) => category === name)
      .sort((a, b) => b.published_at - a.published_at)
      .map((row) => storyOf(archive, paper, root, row));
    return stories.length === 0 ? [] : [{ name, stories }];
  });
}

function storyOf(archive: Pictured, paper: PaperRecord, root: string, row: Row): MailStory {
  const { headline, dek, category, slug, byline, writers, provenance, language, published_at, image } = row;
  return {
    headline,
    dek,
    category,
    url: paper.paper_public ? `${root}/stories/${slug}/` : null,
    byline,
    writer: writerLine(writers, paper.language),
    is_archived: provenance === 'archive',
    language,
    published_at: isoTime(published_at),
    image: image === null ? null : pictureOf(archive, paper, root, image),
  };
}

function castOf(archive: Archive, paper: Paper, root: string, day: string): MailCast[] {
  const cast = archive.cast(day);
  if (cast === null) return [];
  const { title, description, duration_s } = cast;
  const alt = fill(phrasesOf(paper.language).mail.poster, { title });
  const poster = cast.poster === undefined ? null : pictureOf(archive, paper, root, { src: cast.poster, alt });
  const url = paper.paper_public ? `${root}/cast/${day}/` : null;
  return [{ title, description, is_audio: cast.audio !== undefined, day, url, duration_s, poster }];
}

type Pictured = Pick<Archive, 'media'>;

/** A picture for a mail; null in a private paper, whose pictures require a key. */
function pictureOf(
  archive: Pictured,
  { paper_public }: PaperRecord,
  root: string,
  { src, alt }: { src: string; alt: string },
): MailPicture | null {
  if (!paper_public || !SHOWN.test(src)) return null;
  const media = archive.media(src);
  return { url: `${root}/${src}`, alt, width: media?.width ?? null, height: media?.height ?? null };
}
