import { RESERVED_PAGES } from '../../papers/page.ts';
import type { Edition } from '../edition.ts';
import type { Output, RenderedFile, RenderTools } from '../output.ts';
import { OUTPUTS } from './all.ts';
import { media } from './assets.ts';
import { castDay } from './cast.ts';
import { day, year } from './day.ts';
import { persona, portrait } from './masthead.ts';
import { page } from './pages.ts';
import { mediaByPictureId, picture } from './picture.ts';
import { section, sectionPage, tag, tagPage } from './piece-list.ts';
import { monthSitemap } from './sitemap.ts';
import { card, proof, story } from './story.ts';

/** Path patterns of outputs with keys; the first that matches counts. The capture groups, joined by a slash, form the key. */
const KEYED: readonly (readonly [RegExp, Output])[] = [
  [/^stories\/([^/]+)\/proof\.json$/, proof],
  [/^stories\/([^/]+?)(?:\.md|\/.*)$/, story],
  [/^embed\/([^/]+)\//, story],
  [/^cards\/([0-9a-z]{26})-/, card],
  [/^sections\/([^/]+)\/(?:index\.html|rss\.xml)$/, section],
  [/^sections\/([^/]+)\/(\d+)\/index\.html$/, sectionPage],
  [/^tags\/([^/]+)\/(?:index\.html|rss\.xml)$/, tag],
  [/^tags\/([^/]+)\/(\d+)\/index\.html$/, tagPage],
  [/^days\/(\d{4}-\d\d-\d\d)\//, day],
  [/^days\/(\d{4})\//, year],
  [/^masthead\/([^/]+)\/(?:index\.html|rss\.xml)$/, persona],
  [/^portraits\/([^/]+)\.png$/, portrait],
  [/^cast\/(\d{4}-\d\d-\d\d)\//, castDay],
  [/^(media\/.+)$/, media],
  [/^pictures\/([0-9a-f]+)-\d+\./, picture],
  [/^sitemaps\/(\d{4}-\d\d)/, monthSitemap],
  [new RegExp(`^(?!(?:${RESERVED_PAGES.join('|')})/)([a-z0-9-]+)/index\\.html$`), page],
];

/** A single printed file: its bytes, or how to draw or copy it. */
export type SingleFile = Exclude<RenderedFile, { same: string }>;

/** Prints the single file at a path of a paper that is not pressed; null when there is none. */
export async function printPath(edition: Edition, path: string, tools: RenderTools): Promise<SingleFile | null> {
  // Only static hosts read `_headers`; a server that prints a single file sends its own headers.
  if (path === '_headers') return null;
  for (const { output, key } of outputsForPath(edition, path)) {
    const printed = await output.print(edition, key, tools);
    const named = printed?.find((item) => item.path === path);
    const found = named && 'same' in named ? printed?.find((item) => item.path === named.same) : named;
    if (found !== undefined && !('same' in found)) return found;
  }
  return null;
}

function* outputsForPath(edition: Edition, path: string): Iterable<{ output: Output; key: string }> {
  for (const [pattern, output] of KEYED) {
    const match = pattern.exec(path);
    if (match === null) continue;
    const key = match.slice(1).join('/');
    // The name of an embed or a card may contain the piece's id.
    const slug = output === story || output === card ? edition.piece(key)?.slug : undefined;
    const original = output === picture ? mediaByPictureId(edition).get(key) : undefined;
    yield { output, key: slug ?? original ?? key };
    return;
  }
  for (const output of OUTPUTS) {
    if (!KEYED.some(([, keyed]) => keyed === output)) yield { output, key: '' };
  }
}
