import type { FiledContent } from '../store/filed-content.ts';
import type { WritingDesk } from './desk.ts';
import { pieceLine } from './outlook.ts';

/** What the panel needs to know of the desk. */
export interface PanelParts {
  desk: WritingDesk;
  filed: FiledContent;
  now: number;
}

/** The line that leads to the piece that was saved last; empty without one. */
export function savedLastLine({ desk, filed, now }: PanelParts): string {
  const found = desk.savedLast();
  if (found === null) return '';
  const { url, headline } = pieceLine(found.paper, found.piece, filed, now);
  return `<p>Saved last: <a href="${escaped(url)}">${escaped(headline)}</a></p>`;
}

/** The nameplate of a paper, or its slug while the door refuses its record. */
export function nameOf(desk: WritingDesk, slug: string): string {
  return desk.store.paper(slug)?.nameplate ?? slug;
}

/** A text for HTML, in content or in quotes. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
