import type { Output } from '../output.ts';
import { assets, media } from './assets.ts';
import { castDay, castIndex } from './cast.ts';
import { day, days, year } from './day.ts';
import { documents } from './documents.ts';
import { front } from './front.ts';
import { hosting } from './hosting.ts';
import { icons } from './icons.ts';
import { masthead, persona, portrait } from './masthead.ts';
import { page, pages } from './pages.ts';
import { picture } from './picture.ts';
import { allTags, section, sectionPage, tag, tagPage } from './piece-list.ts';
import { monthSitemap, news, pagesSitemap, sitemap } from './sitemap.ts';
import { card, proof, story } from './story.ts';

export const OUTPUTS: readonly Output[] = [
  assets,
  icons,
  media,
  picture,
  card,
  proof,
  story,
  section,
  sectionPage,
  tag,
  tagPage,
  allTags,
  day,
  days,
  year,
  masthead,
  persona,
  portrait,
  castIndex,
  castDay,
  ...pages,
  page,
  front,
  ...documents,
  sitemap,
  monthSitemap,
  pagesSitemap,
  news,
  hosting,
];

/** The output and key of a name; null for an unknown kind. */
export function outputNamed(name: string): { output: Output; key: string } | null {
  const slash = name.indexOf('/');
  const kind = slash < 0 ? name : name.slice(0, slash);
  const output = OUTPUTS.find((candidate) => candidate.kind === kind);
  return output === undefined ? null : { output, key: slash < 0 ? '' : name.slice(slash + 1) };
}

/** The name under which the manifest records an output. */
export function outputName({ kind }: Output, key: string): string {
  return key === '' ? kind : `${kind}/${key}`;
}
