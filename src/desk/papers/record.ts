import canonicalize from 'canonicalize';
import { refusalOf } from '../../shared/fault.ts';
import type { Problem } from '../../shared/shape.ts';
import { shownProblems } from '../../shared/shown-text.ts';
import { append } from '../append.ts';
import type { Archive } from '../archive.ts';
import { proseProblems, sourceFloorProblems } from '../door/door.ts';
import { markersIn } from '../door/markers.ts';
import type { RecordEntry } from '../ledger-entry.ts';
import type { LedgerStore } from '../ledger-store.ts';
import { type Cast, type CastBody, castFile, chaptersOf, fileProperties } from './cast.ts';
import { normalUrl } from './host.ts';
import { type Persona, type PersonaBody, portraitPath } from './masthead.ts';
import type { Media } from './media.ts';
import { type PageBody, pageSlugProblem, unfilledProblem } from './page.ts';
import type { PaperBody } from './paper.ts';

/** Maximum number of pieces that an error message names. */
const NAMED_MAX = 5;

/**
 * Creates a persona from its body. Throws `refused_by_door` when its portrait is not one of the paper's pictures, or a
 * line has no visible text.
 */
export function personaFrom(archive: Archive, slug: string, body: PersonaBody): Persona {
  const { name, title, beat } = body;
  requireShown({ name, title, beat });
  requireMedia(archive, 'avatar', body.avatar, 'image/');
  return { slug, ...body };
}

/** Creates an edition, with its file's properties. Throws `refused_by_door` for missing or wrong media. */
export function castFrom(archive: Archive, day: string, body: CastBody): Cast {
  const { title, chapters = [] } = body;
  requireShown({ title, ...Object.fromEntries(chapters.map((one, n) => [`chapters[${n}].title`, one.title])) });
  const kind = body.audio === undefined ? 'video' : 'audio';
  const file = requireMedia(archive, kind, castFile(body), `${kind}/`);
  requireMedia(archive, 'poster', body.poster ?? null, 'image/');
  requireMedia(archive, 'captions', body.captions, 'text/vtt');
  requireMedia(archive, 'transcript', body.transcript ?? null, 'text/vtt');
  // The writing desk shows editions before it has read their files.
  const end = (file?.duration_ms ?? Infinity) / 1000;
  const late = chapters.findIndex(({ time }) => time >= end);
  if (late >= 0) {
    const message = `${chapters[late]?.time} s is not before the end of the audio at ${end} s; correct the time`;
    throw refusalOf([{ field: `chapters[${late}].time`, rule: 'after_end', message }]);
  }
  return { day, ...body, ...fileProperties(file) };
}

/**
 * Creates a paper's new record, with its address normalized. Throws `refused_by_door` when it drops a section that has
 * pieces, raises the source floor above that of scheduled pieces, or names media, or sections and personas to review,
 * that the paper does not have. `personas` also includes those filed together with it; undefined if they are not known
 * yet.
 */
export function paperFrom(
  archive: Archive | null,
  body: PaperBody,
  {
    media = mediaOf(archive),
    personas = archive?.personaSlugs(),
  }: { media?: FindMedia; personas?: string[] | undefined } = {},
): PaperBody {
  const { nameplate, motto, description, sections } = body;
  const problems = [
    ...unshown({ nameplate, motto, description }),
    ...unshown(Object.fromEntries(sections.map((name, index) => [`sections[${index}]`, name]))),
    ...(archive === null ? [] : [...sectionProblems(archive, body.sections), ...floorProblems(archive, body)]),
    ...reviewProblems(body, personas),
    ...brandMedia(body).flatMap(({ field, path, types }) => mediaProblems(media, field, path, types)),
  ];
  if (problems.length > 0) throw refusalOf(problems);
  return body.url === undefined ? body : { ...body, url: normalUrl(body.url) };
}

/**
 * Creates one of the paper's own pages from its body. Throws `refused_by_door` for an address that the paper uses
 * itself, and for prose that the door would reject. A page cites no facts.
 */
export function pageFrom(archive: Archive, slug: string, body: PageBody): PageBody {
  const reserved = pageSlugProblem(slug);
  const [marker] = markersIn(body.prose);
  const unfilled = unfilledProblem(body.prose);
  const problems: Problem[] = [
    ...unshown({ title: body.title, description: body.description }),
    ...(reserved === null ? [] : [{ field: 'slug', rule: 'slug_form', message: reserved }]),
    ...takenProblems(archive, slug),
    ...proseProblems(body.prose, { hasMedia: (path) => archive.media(path) !== null }),
    ...(unfilled === null ? [] : [unfilled]),
  ];
  if (marker !== undefined) {
    const message = `[^${marker.n}] points at no entry, because a page cites no facts; link to the source instead`;
    problems.push({ field: 'prose', rule: 'marker_without_entry', message, offset: marker.offset });
  }
  if (problems.length > 0) throw refusalOf(problems);
  return body;
}

/** The problem of a page whose address is an earlier address of a piece. */
function takenProblems(archive: Archive, slug: string): Problem[] {
  const owner = archive.aliasOwner(`/${slug}`);
  if (owner === null) return [];
  const message = `/${slug}/ is an earlier address of the piece ${owner} and leads there; choose another slug, or take it out of the piece’s aliases`;
  return [{ field: 'slug', rule: 'alias_taken', message }];
}

/** The problems of lines that readers see, by field. Stored records are exempt: older versions accepted any line. */
function unshown(lines: Record<string, string>): Problem[] {
  return Object.entries(lines).flatMap(([field, text]) => shownProblems(field, text));
}

function requireShown(lines: Record<string, string>): void {
  const problems = unshown(lines);
  if (problems.length > 0) throw refusalOf(problems);
}

/** Appends a record unless it equals `before`, the newest of its name, or null. Returns whether it was appended. */
export function appendRecord(
  store: LedgerStore,
  { paper, kind, name, body, at }: Omit<RecordEntry, 'type'>,
  before: unknown,
): boolean {
  if (canonicalize(before) === canonicalize(body)) return false;
  append(store, { type: 'record', at, paper, kind, name, body });
  return true;
}

/** A section with pieces on air or scheduled cannot be dropped, because their pages would link to a missing section. */
function sectionProblems(archive: Archive, sections: readonly string[]): Problem[] {
  const dropped = archive.paper().sections.filter((name) => !sections.includes(name));
  if (dropped.length === 0) return [];
  const toAir = archive.scheduled();
  return dropped.flatMap((name) => {
    const onAir = archive.list('section', name).count();
    const scheduled = toAir.filter(({ category }) => category === name).length;
    if (onAir + scheduled === 0) return [];
    const pieces = onAir > 0 ? `on air (${onAir})` : `that are to go on air (${scheduled})`;
    const message = `${JSON.stringify(name)} still has pieces ${pieces}; keep it, or file them in another section first`;
    return [{ field: 'sections', rule: 'section_in_use', message }];
  });
}

/** A higher floor must not block scheduled pieces, because nobody would notice. Pieces on air stay on air. */
function floorProblems(archive: Archive, { source_floor }: PaperBody): Problem[] {
  if (source_floor <= archive.paper().source_floor) return [];
  const short = archive.scheduled().filter((piece) => sourceFloorProblems(piece, { source_floor }).length > 0);
  if (short.length === 0) return [];
  const named = short.slice(0, NAMED_MAX).map(({ slug }) => slug);
  const slugs = `${named.join(', ')}${short.length > NAMED_MAX ? ', …' : ''}`;
  const message = `${short.length} of the pieces that are to go on air cite fewer than ${source_floor} distinct publishers (${slugs}); revise them or take them off their schedule first`;
  return [{ field: 'source_floor', rule: 'scheduled_below_floor', message }];
}

/** Unknown names are problems: a misspelled name would leave pieces without the review that the desk relies on. */
function reviewProblems({ review, sections, sources }: PaperBody, personas: readonly string[] | undefined): Problem[] {
  const unknown = (field: string, named: readonly string[] = [], known: readonly string[] | undefined, where: string) =>
    named.flatMap((name, index): Problem[] => {
      if (known === undefined || known.includes(name)) return [];
      const message = `${JSON.stringify(name)} is not ${where}; write one of ${known.map((one) => JSON.stringify(one)).join(', ') || 'none: there are none yet'}`;
      return [{ field: `${field}[${index}]`, rule: `unknown_${field.split('.')[1]?.slice(0, -1)}`, message }];
    });
  const persona = 'the slug of a persona of this paper';
  const rules = typeof review === 'object' ? review : undefined;
  return [
    ...unknown('review.sections', rules?.sections, sections, 'a section of this paper'),
    ...unknown('review.personas', rules?.personas, personas, persona),
    ...unknown('sources.personas', sources?.personas, personas, persona),
  ];
}

type FindMedia = (path: string) => Media | null;
const mediaOf = (archive: Archive | null) => (path: string) => archive?.media(path) ?? null;

/** The media that a paper's record names, and the allowed types of each. */
export function brandMedia({ logo, icon, style }: Pick<PaperBody, 'logo' | 'icon' | 'style'>) {
  const svg = ['image/svg+xml'];
  const logos = typeof logo === 'object' ? [...Object.entries(logo)] : [['', logo] as const];
  return [
    ...logos.map(([part, path]) => ({ field: part === '' ? 'logo' : `logo.${part}`, path, types: svg })),
    { field: 'icon', path: icon, types: [...svg, 'image/png'] },
    { field: 'style', path: style, types: ['text/css'] },
  ].flatMap(({ path, ...rest }) => (path === undefined ? [] : [{ path, ...rest }]));
}

function mediaProblems(
  media: (path: string) => Media | null,
  field: string,
  path: string,
  types: readonly string[],
): Problem[] {
  const found = media(path);
  if (found !== null && types.includes(found.media_type)) return [];
  const wanted = types.join(' or ');
  const message =
    found === null
      ? `${JSON.stringify(path)} is not a media file of this paper; put it under media/, and name it from there`
      : `${JSON.stringify(path)} is ${found.media_type}, not ${wanted}; name another file`;
  return [{ field, rule: 'unknown_media', message }];
}

/** Returns the media file that a record names, or null when it names none. Throws `refused_by_door`. */
function requireMedia(archive: Archive, field: string, path: string | null, type: string): Media | null {
  if (path === null) return null;
  const found = archive.media(path);
  if (found?.media_type.startsWith(type)) return found;
  const message =
    found === null
      ? `${JSON.stringify(path)} is not a media file of this paper; put it there, or correct the path`
      : `${JSON.stringify(path)} is ${found.media_type}, not ${type}…; name another file`;
  throw refusalOf([{ field, rule: 'unknown_media', message }]);
}

type Members = Record<string, unknown>;

/** The members that hold media files, by their names in records and in rows. */
const MEDIA = new Map([
  ['avatar', 'avatar'],
  ['video', 'video'],
  ['video_url', 'video'],
  ['audio', 'audio'],
  ['audio_url', 'audio'],
  ['poster', 'poster'],
  ['poster_url', 'poster'],
  ['captions', 'captions'],
  ['transcript', 'transcript'],
  ['transcript_url', 'transcript'],
]);

/**
 * Converts a change of a persona to the members of its record, so that a client can send back a masthead row as
 * listed: media URLs become paths, and unchanged read-only members are removed. Changed ones stay in, and validation
 * rejects them.
 */
export function personaChange(change: Members, slug: string, root: string): Members {
  const members = mediaPaths(change, root);
  // If the row shows the drawn portrait, the persona has no picture.
  if (members.avatar === `${root}/${portraitPath(slug)}`) members.avatar = null;
  return without(members, { slug, declared_ai: true, url: `${root}/masthead/${slug}/` });
}

/** Like `personaChange`, for an edition, whose row also shows its file's properties. */
export function castChange(archive: Archive, change: Members, day: string, root: string): Members {
  const members = mediaPaths(change, root);
  const before = archive.cast(day);
  const path = members.audio ?? members.video ?? (before && castFile(before));
  const { file_chapters: _, ...shown } = fileProperties(typeof path === 'string' ? archive.media(path) : null);
  const page_url = `${root}/cast/${day}/`;
  // Unchanged chapters that come from the file are not stored in the record.
  if (before !== null && canonicalize(members.chapters) === canonicalize(chaptersOf(before))) delete members.chapters;
  return without(members, { day, page_url, embed_url: `${page_url}embed/`, ...shown });
}

function mediaPaths(change: Members, root: string): Members {
  const isOwn = (value: unknown): value is string => typeof value === 'string' && value.startsWith(`${root}/media/`);
  const members = Object.entries(change).map(([name, value]) => {
    const member = MEDIA.get(name);
    if (member === undefined) return [name, value];
    return [member, isOwn(value) ? value.slice(root.length + 1) : value];
  });
  return Object.fromEntries(members);
}

/** Removes members that are sent back unchanged. */
export function without(change: Members, shown: Members): Members {
  return Object.fromEntries(Object.entries(change).filter(([name, value]) => shown[name] !== value));
}
