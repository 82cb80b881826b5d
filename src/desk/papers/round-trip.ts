import type { Archive } from '../archive.ts';
import { portraitPath } from './masthead.ts';
import { videoProperties } from './record.ts';

type Members = Record<string, unknown>;

/** The members that hold media files, by their names in records and in listed rows. */
const MEDIA = new Map([
  ['avatar', 'avatar'],
  ['video', 'video'],
  ['video_url', 'video'],
  ['poster', 'poster'],
  ['poster_url', 'poster'],
  ['captions', 'captions'],
]);

/**
 * Converts a change of a persona to the members of its record, so that a client can send back a masthead row as
 * listed: media URLs become paths, and unchanged read-only members are removed. Changed ones stay in, and validation
 * rejects them.
 */
export function personaChange(change: Members, slug: string, root: string): Members {
  const members = mediaPaths(change, root);
  // A drawn portrait means that the persona has no picture.
  if (members.avatar === `${root}/${portraitPath(slug)}`) members.avatar = null;
  return without(members, { slug, declared_ai: true, url: `${root}/masthead/${slug}/` });
}

/** The same for a video edition, whose row also shows its video's properties. */
export function castChange(archive: Archive, change: Members, day: string, root: string): Members {
  const members = mediaPaths(change, root);
  const video = members.video ?? archive.cast(day)?.video;
  const file = typeof video === 'string' ? archive.media(video) : null;
  const page_url = `${root}/cast/${day}/`;
  return without(members, { day, page_url, embed_url: `${page_url}embed/`, ...videoProperties(file) });
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

function without(change: Members, shown: Members): Members {
  return Object.fromEntries(Object.entries(change).filter(([name, value]) => shown[name] !== value));
}
