import * as z from 'zod';
import { type Archive, STATES, type Story } from '../archive.ts';
import type { Media } from './media.ts';
import { brandMedia } from './record.ts';

/** What uses a media file: a piece's newest revision, a persona, an edition, a page, or the paper's own record. */
export const MediaUse = z
  .object({
    kind: z.enum(['story', 'persona', 'cast', 'page', 'paper']),
    name: z
      .string()
      .meta({ description: 'The slug of a piece, persona, page or paper; the day of a video or audio edition.' }),
    id: z.string().optional().meta({ description: 'Of a piece.' }),
    state: z.enum(STATES).optional().meta({ description: 'Of a piece.' }),
  })
  .meta({ id: 'MediaUse' });
export type MediaUse = z.infer<typeof MediaUse>;

/** The newest revision of a piece. `image` is the path of its picture. */
type MediaPiece = Pick<Story, 'id' | 'slug' | 'state' | 'prose'> & { image: string | null };

/** A media file in wire format. */
export const MediaRow = z
  .object({
    path: z.string().meta({ description: 'As pieces and records name it.', example: 'media/art/quay.jpg' }),
    url: z.url(),
    media_type: z.string(),
    width: z.int().nullable().meta({ description: 'In pixels; null for sounds, captions and stylesheets.' }),
    height: z.int().nullable(),
    duration_s: z.number().nullable().meta({ description: 'Duration of a video, a sound or an animated picture.' }),
    bytes: z.int().meta({ description: 'As published: the location of a picture is taken out.' }),
    sha256: z.string().meta({ description: '`sha256:<hex>` of what is published.' }),
    alt: z
      .string()
      .nullable()
      .meta({ description: 'What the picture shows, for pieces that give no description of their own.' }),
  })
  .meta({ id: 'Media' });
export type MediaRow = z.infer<typeof MediaRow>;

export function mediaRow(media: Media, root: string): MediaRow {
  const { path, media_type, width, height, duration_ms, bytes, digest, alt = null } = media;
  const duration_s = duration_ms === null ? null : duration_ms / 1000;
  return { path, url: `${root}/${encodeURI(path)}`, media_type, width, height, duration_s, bytes, sha256: digest, alt };
}

/** Whether a prose contains a path, as it is or as Markdown escapes it. */
const namesIn = (text: string, path: string): boolean => text.includes(path) || text.includes(encodeURI(path));

/** The uses of each of these media files. A path in prose counts, even if it is not a picture there. */
export function mediaUses(
  archive: Archive,
  pieces: Iterable<MediaPiece>,
  paths: readonly string[],
): Map<string, MediaUse[]> {
  const uses = new Map<string, MediaUse[]>(paths.map((path) => [path, []]));
  const note = (use: MediaUse, isUsed: (path: string) => boolean): void => {
    for (const [path, list] of uses) if (isUsed(path)) list.push(use);
  };
  const paper = archive.paper();
  const brand = new Set(brandMedia(paper).map(({ path }) => path));
  note({ kind: 'paper', name: paper.slug }, (path) => brand.has(path));
  // Inactive personas have pages too.
  for (const slug of archive.personaSlugs()) {
    note({ kind: 'persona', name: slug }, (path) => archive.persona(slug)?.avatar === path);
  }
  for (const { day, video, audio, poster, captions, transcript } of archive.casts()) {
    note({ kind: 'cast', name: day }, (path) => [video, audio, poster, captions, transcript].includes(path));
  }
  for (const { slug, prose } of archive.pages()) note({ kind: 'page', name: slug }, (path) => namesIn(prose, path));
  for (const { id, slug, state, image, prose } of pieces) {
    note({ kind: 'story', name: slug, id, state }, (path) => image === path || namesIn(prose, path));
  }
  return uses;
}

/** Whether readers see the use of a file, or will see it without further action. */
export function isShownUse({ kind, state }: MediaUse): boolean {
  return kind !== 'story' || state === 'on_air' || state === 'scheduled';
}
