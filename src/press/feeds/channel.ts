import type { Story } from '../../desk/archive.ts';
import type { Paper } from '../../desk/paper.ts';

/** The paper that a feed is of, and where it lives. Nothing here changes when a piece goes on air. */
export interface Channel {
  paper: Omit<Paper, 'edition' | 'changed_at'>;
  /** Absolute root address, without a slash at its end. */
  root: string;
}

/** A piece on air as feeds show it in full. */
export interface FeedItem extends Story {
  /** The prose as HTML, its markers linked to the footnotes by fragment. */
  html: string;
  /** Absolute: the piece's own art, or its share card. */
  image_url: string;
  image_type: string;
  /** Length of that picture's file; null for a share card, which may not be drawn yet. */
  image_bytes: number | null;
  /** Absolute address of the persona's portrait. */
  avatar_url: string;
}

/** A persona's name as every feed prints it: the disclosure is part of the name. */
export function declared(name: string): string {
  return `${name} (AI persona)`;
}

/** One sentence for the descriptions of a channel. */
export const DISCLOSURE = 'Every byline is a declared AI persona.';

/** What a channel says about itself: the paper's description, and the disclosure. */
export function channelDescription({ paper }: Channel): string {
  const words = (paper.description || paper.motto || paper.nameplate).trim();
  return `${words}${ENDED.test(words) ? '' : '.'} ${DISCLOSURE}`;
}

/** What ends as a sentence does, in any script; quotes and brackets may close after it. */
const ENDED = /[\p{Sentence_Terminal}\u2026][\p{Pe}\p{Pf}\p{Pi}"']*$/u;

/** The address of a file of the paper, from its path under the paper's folder. */
export function fileUrl(root: string, path: string): string {
  return `${root}/${path.split('/').map(encodeURIComponent).join('/')}`;
}

/** When the newest of some pieces was last changed, in ms; null when there is none. */
export function newestChange(items: readonly { updated_at: number }[]): number | null {
  return items.length === 0 ? null : Math.max(...items.map((item) => item.updated_at));
}

/** A text as the address that it is, or null when it is no http(s) address. */
export function webAddress(text: string): string | null {
  if (!/^https?:\/\/[^\s]+$/i.test(text)) return null;
  return URL.parse(text)?.href ?? null;
}
