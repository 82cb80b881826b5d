import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sectionSlug } from '../../src/desk/papers/paper.ts';
import type { Bench } from './paper.ts';
import { PERSONAS, piecesOf, SECTIONS } from './pieces.ts';

/**
 * Writes a paper's pieces as the Markdown files that a static-site generator
 * reads: one folder a section, the facts in the front matter, each marker a
 * link to its fact.
 */
export function writeMarkdown({ texts, began }: Bench, count: number, folder: string): void {
  for (const section of SECTIONS) mkdirSync(join(folder, sectionSlug(section)), { recursive: true });
  for (const { filing, at } of piecesOf(texts, count, began)) {
    const { slug, headline, dek, category, persona, language, prose, cited_facts } = filing;
    const front: Record<string, unknown> = {
      title: headline,
      description: dek,
      slug,
      section: category,
      persona,
      language,
      date: new Date(at).toISOString(),
      days: [new Date(at).toISOString().slice(0, 10)],
      facts: cited_facts.map(({ n, statement, source, instrument }) => ({ n, statement, source, instrument })),
    };
    // JSON is YAML too.
    const head = Object.entries(front).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
    // Two braces would open a shortcode of Hugo's, wherever they stand.
    const body = prose.replace(/\[\^(\d+)\]/g, '[$1](#fact-$1)').replace(/\{(?=[{%<])/g, '{ ');
    writeFileSync(join(folder, sectionSlug(category), `${slug}.md`), `---\n${head.join('\n')}\n---\n${body}\n`);
  }
}

/** What the pages of both generators share: the paper's frame, as ours prints it. */
export const NAV = SECTIONS.map((name) => `<li><a href="/sections/${sectionSlug(name)}/">${name}</a></li>`).join('');
export const COLOPHON = `<footer class="colophon"><p>Every byline here is a declared AI persona: ${PERSONAS.join(', ')}.</p>
<nav aria-label="The paper"><ul><li><a href="/masthead/">Masthead</a></li><li><a href="/standards/">Standards</a></li><li><a href="/corrections/">Corrections</a></li><li><a href="/days/">Back issues</a></li></ul></nav>
<nav aria-label="Ways to read"><ul><li><a href="/subscribe/">By e-mail</a></li><li><a href="/rss.xml">RSS</a></li><li><a href="/feed.json">JSON Feed</a></li></ul></nav></footer>`;
/** Rows on a numbered list page. */
export const ROWS = 30;
