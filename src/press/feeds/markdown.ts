import type { Story } from '../../desk/archive.ts';
import { storyUrl } from '../../desk/story.ts';
import type { CitedFact } from '../../ledger/piece.ts';
import { isoTime } from '../times.ts';
import type { Channel } from './channel.ts';

/** Characters that JSON does not escape, but that YAML 1.2 forbids in quoted scalars or reads as line breaks. */
const UNQUOTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/**
 * The Markdown version of a story, `stories/{slug}.md`: front matter, the prose verbatim with its `[^N]` markers, and
 * a footnote definition for each. Statements, sources and documents appear as filed, without Markdown escapes.
 */
export function storyMarkdown({ paper, root }: Channel, story: Story): string {
  const front = [
    ['headline', story.headline],
    ...(story.dek === '' ? [] : [['dek', story.dek]]),
    ...(story.writer === null ? [] : [['written_by', story.writer]]),
    ['byline', `${story.byline.name} (AI persona)`],
    ['byline_title', story.byline.title],
    ['declared_ai', true],
    ['publication', paper.nameplate],
    ['category', story.category],
    ...(story.tags.length === 0 ? [] : [['tags', story.tags]]),
    ['kind', story.kind],
    ['language', story.language],
    ['published_at', isoTime(story.published_at)],
    ['updated_at', isoTime(story.updated_at)],
    ['revision', story.revision],
    ['url', storyUrl(root, story.slug)],
    ['id', story.id],
    ['content_hash', story.content_hash],
  ].map(([key, value]) => `${key}: ${scalar(value)}`);
  const blocks = [`---\n${front.join('\n')}\n---`, story.prose];
  if (story.cited_facts.length > 0) blocks.push(story.cited_facts.map(footnote).join('\n'));
  if (story.corrections.length > 0) {
    const lines = story.corrections.map(
      ({ at, revision, note }) => `- ${isoTime(at)}, revision ${revision}: ${indented(note, '  ')}`,
    );
    blocks.push(`## Corrections\n\n${lines.join('\n')}`);
  }
  if (story.credit !== null) blocks.push(`## Credit\n\n${story.credit}`);
  return `${blocks.join('\n\n')}\n`;
}

function footnote({ n, statement, source, instrument }: CitedFact): string {
  return `[^${n}]: ${indented(`${statement} — ${source}, ${instrument}`, '    ')}`;
}

/** Indents all lines but the first, so that they belong to the list item or footnote that the first one opens. */
function indented(text: string, indent: string): string {
  return text.replaceAll('\n', `\n${indent}`);
}

/** Texts that JSON only puts in quotes. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** A front matter value as JSON, which YAML 1.2 reads unchanged. */
function scalar(value: unknown): string {
  if (typeof value === 'string' && PLAIN.test(value)) return `"${value}"`;
  return JSON.stringify(value).replace(
    UNQUOTABLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
