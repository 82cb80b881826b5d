import markdownit from 'markdown-it';
import { ArchiveError } from './archive-error.ts';
import type { MarkdownProblem } from './source.ts';

const markdown = markdownit({ html: true });

/** Markdown of another system as HTML. Throws `ArchiveError` for a text that takes too long to parse. */
export function renderMarkdown(text: string, problemOf: MarkdownProblem): string {
  const problem = problemOf(text);
  if (problem !== null) throw new ArchiveError(problem);
  return markdown.render(text);
}
