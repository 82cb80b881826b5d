import type { Edition } from '../edition.ts';
import type { Sheet } from '../sheet.ts';
import { SHEETS } from './all.ts';
import { card } from './card.ts';
import { castDay } from './cast.ts';
import { day, year } from './day.ts';
import { persona } from './masthead.ts';
import { media } from './matter.ts';
import { section, sectionPage } from './section.ts';
import { monthSitemap } from './sitemap.ts';
import { story } from './story.ts';

/** Paths of the sheets that have keys; the key is what stands in the groups, joined by a slash. */
const KEYED: readonly (readonly [RegExp, Sheet])[] = [
  [/^stories\/([^/]+?)(?:\.md|\/.*)$/, story],
  [/^embed\/([^/]+)\//, story],
  [/^cards\/([0-9a-z]{26})-/, card],
  [/^sections\/([^/]+)\/(?:index\.html|rss\.xml)$/, section],
  [/^sections\/([^/]+)\/(\d+)\/index\.html$/, sectionPage],
  [/^days\/(\d{4}-\d\d-\d\d)\//, day],
  [/^days\/(\d{4})\//, year],
  [/^masthead\/([^/]+)\/index\.html$/, persona],
  [/^cast\/(\d{4}-\d\d-\d\d)\//, castDay],
  [/^(media\/.+)$/, media],
  [/^sitemaps\/(\d{4}-\d\d)/, monthSitemap],
];

/** The sheets that may print a path: what a development server asks. */
export function* sheetsOfPath(edition: Edition, path: string): Iterable<{ sheet: Sheet; key: string }> {
  for (const [pattern, sheet] of KEYED) {
    const match = pattern.exec(path);
    if (match === null) continue;
    const key = match.slice(1).join('/');
    // An embed or a card may be named by the piece's id.
    const slug = sheet === story || sheet === card ? edition.piece(key)?.slug : undefined;
    yield { sheet, key: slug ?? key };
    return;
  }
  for (const sheet of SHEETS) {
    if (!KEYED.some(([, keyed]) => keyed === sheet)) yield { sheet, key: '' };
  }
}
