import type { Edition } from '../edition.ts';
import type { Output, RenderedFile, RenderTools } from '../output.ts';
import { assets, fonts, linkPicture, media, picture } from './assets.ts';
import { castDay, castIndex, day, days, year } from './day.ts';
import { documents, hosting } from './documents.ts';
import { fact, factPage, facts, factsSitemap, sources } from './facts.ts';
import { front } from './front.ts';
import { icons } from './icons.ts';
import { keptSource } from './kept-source.ts';
import { masthead, persona, portrait } from './masthead.ts';
import { page, pages } from './pages.ts';
import { allTags, section, sectionPage, tag, tagPage } from './piece-list.ts';
import { alias, redirects } from './redirects.ts';
import { monthSitemap, news, pagesSitemap, sitemap } from './sitemap.ts';
import { card, proof, story } from './story.ts';

export const OUTPUTS: readonly Output[] = [
  assets,
  fonts,
  icons,
  media,
  picture,
  linkPicture,
  keptSource,
  card,
  proof,
  story,
  alias,
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
  fact,
  factPage,
  facts,
  sources,
  front,
  ...documents,
  sitemap,
  monthSitemap,
  factsSitemap,
  pagesSitemap,
  news,
  redirects,
  hosting,
];

/** The output and the key in a name; null for an unknown kind. */
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

/** A single printed file: its bytes, or how to draw or copy it. */
export type SingleFile = Exclude<RenderedFile, { same: string }>;

/** Prints the single file at a path of a paper that is not pressed; null if there is none. */
export async function printPath(edition: Edition, path: string, tools: RenderTools): Promise<SingleFile | null> {
  // Only static hosts read these; a server that prints a single file sends its own headers and redirects.
  if (path === '_headers' || path === '_redirects') return null;
  for (const { output, key } of outputsForPath(edition, path)) {
    const printed = (await output.print(edition, key, tools)) ?? [];
    const named = printed.find((item) => item.path === path);
    const found = named && 'same' in named ? printed.find((item) => item.path === named.same) : named;
    if (found !== undefined && !('same' in found)) return found;
  }
  return null;
}

function outputsForPath(edition: Edition, path: string): Iterable<{ output: Output; key: string }> {
  for (const output of OUTPUTS) {
    const match = output.paths?.exec(path);
    if (!match) continue;
    const name = match.slice(1).filter(Boolean).join('/');
    return [{ output, key: output.keyNamed?.(edition, name) ?? name }];
  }
  return OUTPUTS.filter(({ paths }) => paths === undefined).map((output) => ({ output, key: '' }));
}
