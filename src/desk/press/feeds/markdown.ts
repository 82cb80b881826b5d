import { phrasesOf } from '../../../phrases/tables.ts';
import { isoTime } from '../../../proof/time.ts';
import type { Story } from '../../archive.ts';
import { withoutBoxes } from '../../door/prose.ts';
import { reviewerShown } from '../../review.ts';
import { type CitedFactRow, citedFactRows, storyUrl } from '../../story.ts';
import type { Channel } from './channel.ts';

/** Characters that JSON does not escape, but that YAML 1.2 forbids in quoted scalars or reads as line breaks. */
const UNQUOTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** A story as Markdown: front matter, prose with `[^N]` markers, a footnote per source. Sources appear unescaped. */
export function storyMarkdown({ paper, root }: Channel, story: Story): string {
  const front = [
    line('headline', story.headline),
    line('dek', story.dek || null),
    line('authors', story.authors.length === 0 ? null : story.authors),
    line('written_by', story.authors.length === 0 ? story.writer : null),
    line('byline', `${story.byline.name} (AI persona)`),
    line('byline_title', story.byline.title),
    line('declared_ai', story.writer === null),
    line('provenance', story.provenance),
    line('reviewed_by', reviewerShown(paper, story)),
    line('publication', paper.nameplate),
    line('category', story.category),
    line('tags', story.tags.length === 0 ? null : story.tags),
    line('kind', story.kind),
    line('language', story.language),
    line('published_at', isoTime(story.published_at)),
    line('updated_at', isoTime(story.updated_at)),
    line('revision', story.revision),
    line('url', storyUrl(root, story.slug)),
    line('id', story.id),
    line('content_hash', story.content_hash),
  ];
  const blocks: string[] = [];
  const note = story.provenance === null ? '' : `_${phrasesOf(paper.language).story.archive}_\n\n`;
  if (story.cited_facts.length > 0)
    blocks.push(citedFactRows(story, { root, republishes: false }).map(footnote).join('\n'));
  if (story.corrections.length > 0) {
    const lines = story.corrections.map(
      ({ at, revision, note }) => `- ${isoTime(at)}, revision ${revision}: ${indented(note, '  ')}`,
    );
    blocks.push(`## Corrections\n\n${lines.join('\n')}`);
  }
  if (story.credit !== null) blocks.push(`## Credit\n\n${story.credit}`);
  return `---\n${front.join('')}---\n\n${note}${[withoutBoxes(story.prose), ...blocks].join('\n\n')}\n`;
}

function footnote({ n, statement, source, instrument, fact_status, fact_url }: CitedFactRow): string {
  const since = fact_status === undefined ? '' : ` (${fact_status} since: ${fact_url})`;
  return `[^${n}]: ${indented(`${statement} — ${source}, ${instrument}${since}`, '    ')}`;
}

/** Indents all lines except the first, so that they belong to the list item or footnote that it opens. */
function indented(text: string, indent: string): string {
  return text.replaceAll('\n', `\n${indent}`);
}

function line(key: string, value: unknown): string {
  return value === null ? '' : `${key}: ${scalar(value)}\n`;
}

/** A front matter value as JSON, which YAML 1.2 reads unchanged. */
function scalar(value: unknown): string {
  return JSON.stringify(value).replace(
    UNQUOTABLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
