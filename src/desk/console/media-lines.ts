import { variantsOf } from '../../media/variants.ts';
import { type Cast, castFile } from '../papers/cast.ts';
import type { Media } from '../papers/media.ts';
import type { MediaUse } from '../papers/media-use.ts';
import type { CastLine, MediaLine } from './paper-views.ts';

/** Formats a number of bytes for people. */
export function inBytes(bytes: number): string {
  const unit = bytes >= 1e9 ? [1e9, 'GB'] : bytes >= 1e6 ? [1e6, 'MB'] : bytes >= 1e3 ? [1e3, 'kB'] : [1, 'bytes'];
  const [size, name] = unit as [number, string];
  return `${(bytes / size).toLocaleString('en', { maximumFractionDigits: size > 1e3 ? 1 : 0 })} ${name}`;
}

/** Formats seconds as `3:05` or `1:02:30`. */
function inTime(seconds: number): string {
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [
    Math.floor(whole / 3_600),
    Math.floor(whole / 60) % 60,
    String(whole % 60).padStart(2, '0'),
  ];
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}

export function mediaLine(media: Media, root: string, uses: MediaUse[] | null): MediaLine {
  const { path, media_type, width, height, duration_ms, bytes, alt = null } = media;
  const about = [
    width === null ? '' : `${width} × ${height}`,
    duration_ms === null ? '' : inTime(duration_ms / 1_000),
    inBytes(bytes),
    media_type,
  ];
  return {
    ...{ path, media_type, alt, url: `${root}/${encodeURI(path)}`, isMissing: media.missing === true },
    thumbnail: media_type.startsWith('image/') ? `see/${thumbnailOf(media)}` : null,
    about: about.filter((part) => part !== '').join(' · '),
    uses: uses?.map(useLine) ?? null,
  };
}

/** The smallest variant of a picture, or the picture itself. */
function thumbnailOf(media: Media): string {
  const [smallest] = variantsOf(media).sort((a, b) => a.width - b.width);
  return smallest?.path ?? encodeURI(media.path);
}

function useLine({ kind, name, id, state }: MediaUse): { text: string; path: string } {
  if (kind === 'story') return { text: `${name} (${(state ?? '').replace('_', ' ')})`, path: `pieces/${id}` };
  if (kind === 'persona') return { text: `the portrait of ${name}`, path: `masthead/${name}` };
  if (kind === 'cast') return { text: `the edition of ${name}`, path: `cast/${name}` };
  if (kind === 'page') return { text: `the page ${name}`, path: `pages/${name}` };
  return { text: 'the settings', path: 'settings' };
}

export function castLine(cast: Cast, root: string): CastLine {
  const { day, title, audio, poster, duration_s, bytes } = cast;
  return {
    ...{ day, title, kind: audio === undefined ? 'video' : 'audio' },
    about: `${inTime(duration_s)} · ${inBytes(bytes)} · ${castFile(cast)}`,
    poster: poster === undefined ? null : `see/${encodeURI(poster)}`,
    url: `${root}/cast/${day}/`,
  };
}
