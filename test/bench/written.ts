import { readdirSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { SECTIONS } from './pieces.ts';

/** The kinds of pages and feeds that ours and Hugo both print, by their paths. */
const COMMON = {
  stories: /^stories\/[^/]+\/index\.html$/,
  sections: /^sections\/.*index\.html$/,
  days: /^days\/.*index\.html$/,
  feeds: /^(sections\/[^/]+\/)?(rss\.xml|feed\.json|index\.xml|index\.json)$/,
};
/** What ours writes of each piece beside its page: embed, Markdown and proof. */
const BESIDE = /^(embed\/[^/]+\/index\.html|stories\/[^/]+\.md|stories\/[^/]+\/proof\.json)$/;
/** How many fewer Hugo may print: it numbers the lists of sections from the newest, and has no page for each year. */
const FEWER = { stories: 0, sections: SECTIONS.length, days: 30, feeds: 0 };

type Kind = keyof typeof COMMON;
const KINDS = Object.keys(COMMON) as Kind[];

/** What a tree holds. */
export interface Written extends Record<Kind, number> {
  besideStories: number;
  files: number;
  bytes: number;
}

export function writtenIn(tree: string): Written {
  const written: Written = { stories: 0, sections: 0, days: 0, feeds: 0, besideStories: 0, files: 0, bytes: 0 };
  for (const entry of readdirSync(tree, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const path = relative(tree, file).replaceAll(sep, '/');
    written.files++;
    written.bytes += statSync(file).size;
    for (const kind of KINDS) if (COMMON[kind].test(path)) written[kind]++;
    if (BESIDE.test(path)) written.besideStories++;
  }
  return written;
}

/** Throws when Hugo printed fewer pages or feeds of a kind than ours: its theme or its version does not fit. */
export function requireSameKinds(ours: Written, hugo: Written): void {
  for (const kind of KINDS) {
    if (hugo[kind] < ours[kind] - FEWER[kind]) {
      throw new Error(`hugo printed ${hugo[kind]} ${kind}, ours ${ours[kind]}: hugo-site.ts does not fit this hugo`);
    }
  }
}
