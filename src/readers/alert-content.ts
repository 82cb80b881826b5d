import type { Archive, Row } from '../desk/archive.ts';
import type { Paper } from '../desk/paper.ts';
import { isoTime } from '../time.ts';
import type { KeptEvent } from './event-table.ts';
import type { MailKind } from './mail.ts';
import type { MailCast, MailContent, MailPicture, MailStory } from './mail-content.ts';

/** Pictures that mail programs show; of a drawing in SVG they show nothing. */
const SHOWN = /\.(?:jpe?g|png|gif|webp)$/i;

/** What a mail is of. */
interface Told {
  kind: MailKind;
  /** The piece, or the day. */
  about: string;
  events: KeptEvent[];
}

/**
 * What an alert says: its pieces as they are now, without those withdrawn since.
 * Null when none is left.
 */
export function alertContent(archive: Archive, paper: Paper, root: string, { kind, about, events }: Told) {
  const pieces = events.flatMap((event) =>
    event.type === 'story.aired' ? (rowOnAir(archive, event.story.id) ?? []) : [],
  );
  const casts = events.flatMap((event) =>
    event.type === 'cast.published' ? castOf(archive, paper, root, event.cast.day) : [],
  );
  const [first] = [...pieces.map(({ dek, headline }) => dek || headline), ...casts.map(({ title }) => title)];
  if (first === undefined) return null;
  const matter: Omit<MailContent, 'language' | 'home_url'> = {
    nameplate: paper.nameplate,
    preview: first,
    heading: kind === 'daily' ? 'New since the last mail' : kind === 'weekly' ? 'The week' : null,
    date: kind === 'instant' ? null : `${about}T00:00:00.000Z`,
    paragraphs: [],
    button: null,
    groups: groupsOf(archive, paper, root, pieces),
    casts,
    reason: paper.paper_public ? REASONS[kind] : `${REASONS[kind]} ${PRIVATE}`,
    manage_url: null,
    unsubscribe_url: null,
  };
  return matter;
}

const REASONS: Record<MailKind, string> = {
  confirm: '',
  instant: 'You get this because you asked for a mail with each piece.',
  daily: 'You get this because you asked for one mail a day.',
  weekly: 'You get this because you asked for one mail a week.',
};

/** Why nothing in a mail leads to a piece. */
const PRIVATE = 'The paper is private: its pages open to its own desk alone.';

function rowOnAir(archive: Archive, id: string): Row | null {
  const story = archive.storyById(id);
  return story?.state === 'on_air' ? story : null;
}

/** Pieces by section in the paper's order, the newest first; sections that the paper no longer has come last. */
function groupsOf(archive: Archive, paper: Paper, root: string, pieces: Row[]): MailContent['groups'] {
  const names = new Set([...paper.sections, ...pieces.map(({ category }) => category)]);
  return [...names].flatMap((name) => {
    const stories = pieces
      .filter(({ category }) => category === name)
      .sort((a, b) => b.published_at - a.published_at)
      .map((row) => storyOf(archive, paper, root, row));
    return stories.length === 0 ? [] : [{ name, stories }];
  });
}

function storyOf(archive: Archive, paper: Paper, root: string, row: Row): MailStory {
  const { headline, dek, category, slug, byline, language, published_at, image } = row;
  return {
    headline,
    dek,
    category,
    url: paper.paper_public ? `${root}/stories/${slug}/` : null,
    byline,
    language,
    published_at: isoTime(published_at),
    image: image === null ? null : pictureOf(archive, paper, root, image),
  };
}

function castOf(archive: Archive, paper: Paper, root: string, day: string): MailCast[] {
  const cast = archive.cast(day);
  if (cast === null) return [];
  const { title, description, duration_s } = cast;
  const poster = pictureOf(archive, paper, root, { src: cast.poster, alt: `Poster: ${title}` });
  const url = paper.paper_public ? `${root}/cast/${day}/` : null;
  return [{ title, description, day, url, duration_s, poster }];
}

/** A picture as a mail shows it, or null: one of a private paper opens to nobody without a key. */
function pictureOf(
  archive: Archive,
  { paper_public }: Paper,
  root: string,
  { src, alt }: { src: string; alt: string },
): MailPicture | null {
  if (!paper_public || !SHOWN.test(src)) return null;
  const media = archive.media(src);
  return { url: `${root}/${src}`, alt, width: media?.width ?? null, height: media?.height ?? null };
}
