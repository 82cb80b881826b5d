import { sectionSlug } from '../../desk/paper.ts';
import { PAGE_SIZE } from '../../desk/tags.ts';
import type { Edition } from '../edition.ts';
import type { Output } from '../output.ts';
import { afterPrefix } from '../output.ts';
import type { PieceList } from './piece-list.ts';
import { printNewest, printNumbered } from './piece-list.ts';

function sectionName(edition: Edition, slug: string): string | null {
  return edition.paper().sections.find((name) => sectionSlug(name) === slug) ?? null;
}

const listOf = (name: string): PieceList => ({ name, folder: `sections/${sectionSlug(name)}/`, tags_url: null });

/** A section's front: its newest pieces and their feed. */
export const section: Output = {
  kind: 'section',
  stage: 'index',
  keysForTag: () => [],
  *allKeys(edition) {
    for (const name of edition.paper().sections) yield sectionSlug(name);
  },
  async print(edition, slug, tools) {
    const name = sectionName(edition, slug);
    if (name === null) return null;
    const rows = edition.newest(PAGE_SIZE, { section: name });
    return printNewest(edition, listOf(name), rows, edition.lastSectionPage(name), tools);
  },
};

/** The numbered pages of a section, counted from the oldest piece, so that a full page never changes. */
export const sectionPage: Output = {
  kind: 'section-page',
  stage: 'list',
  *keysForTag(tag) {
    const rest = afterPrefix('section:', tag);
    if (rest !== null) yield rest.replace(':', '/');
  },
  *allKeys(edition) {
    for (const name of edition.paper().sections) {
      const last = edition.lastSectionPage(name);
      for (let page = 1; page <= last; page++) yield `${sectionSlug(name)}/${page}`;
    }
  },
  async print(edition, key, { render }) {
    const [slug = '', number = ''] = key.split('/');
    const name = sectionName(edition, slug);
    const page = Number(number);
    if (name === null || !edition.hasSectionPage(name, page)) return null;
    const at = { page, hasNewer: edition.hasSectionPage(name, page + 1) };
    return printNumbered(edition, listOf(name), edition.sectionPage(name, page), at, render);
  },
};
