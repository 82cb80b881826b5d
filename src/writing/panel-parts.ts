import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileProblem } from '../desk/ingest/source-file.ts';
import type { FiledContent } from '../store/desk/filed-content.ts';
import type { WritingDesk } from './desk.ts';
import { pieceLine } from './outlook.ts';

export interface PanelParts {
  desk: WritingDesk;
  filed: FiledContent;
  now: number;
}

/** The line that leads to the piece that was saved last; empty without one. */
export function savedLastLine({ desk, filed, now }: PanelParts): string {
  const found = desk.savedLast();
  if (found === null) return '';
  const { url, headline } = pieceLine(found.paper, found.piece, filed, now);
  return `<p>Saved last: <a href="${escaped(url)}">${escaped(headline)}</a></p>`;
}

/** The nameplate of a paper, or its slug while the door refuses its record. */
export function nameOf(desk: WritingDesk, slug: string): string {
  return desk.store.desk.paper(slug)?.nameplate ?? slug;
}

/** A text for HTML, in content or in quotes. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Problems, each with a link to its place: in the piece's page, and in the editor. */
export function problemList(problems: readonly FileProblem[], desk: WritingDesk, path: string | null): string {
  const items = problems.map((problem, index) => {
    const { file, line, field, message } = problem;
    const place = `${file}:${line}`;
    const editor = `/__open-in-editor?file=${encodeURIComponent(`${join(desk.contentDir, file)}:${line}`)}`;
    const page = pageOf(problem, desk);
    const show =
      page === null ? '' : ` <a href="${escaped(path === page ? anchorOf(problem, desk) : page)}">Show on the page</a>`;
    return `<li id="desk-problem-${index + 1}" tabindex="-1"><a class="place" href="${escaped(editor)}" data-editor>${escaped(place)}</a> <code>${escaped(field)}</code> ${escaped(message)}${show}</li>`;
  });
  return `<ol class="problems" tabindex="0" aria-label="Problems">${items.join('')}</ol>`;
}

function pageOf({ file }: FileProblem, desk: WritingDesk): string | null {
  const [, paper = '', slug = ''] = /^([^/]+)\/stories\/(?:.*\/)?([^/]+?)(?:\.\d+)?\.md$/.exec(file) ?? [];
  return desk.papers.get(paper)?.pieces.has(slug) ? `/${paper}/stories/${slug}/` : null;
}

function anchorOf(problem: FileProblem, desk: WritingDesk): string {
  const { fact, text } = targetOf(problem, desk);
  if (fact !== undefined) return `#fact-${fact}`;
  return text === undefined ? '#matter' : `#:~:text=${encodeURIComponent(text).replaceAll('-', '%2D')}`;
}

/** Where on the piece's page a problem is: at a fact, in the prose, or at the headline. */
export function targetOf({ field, file, line }: FileProblem, desk: WritingDesk): { fact?: number; text?: string } {
  const fact = /^cited_facts\[(\d+)\]/.exec(field)?.[1];
  if (fact !== undefined) return { fact: Number(fact) + 1 };
  if (field !== 'prose') return {};
  const source = lineOf(join(desk.contentDir, file), line);
  // The longest run without mark-up, which the page shows as it is written.
  const runs = source.split(/\[\^\d+\]|[[\](){}<>*_`#|\\!]+/).map((run) => run.trim());
  const text = runs.toSorted((a, b) => b.length - a.length)[0] ?? '';
  return text.length < 3 ? {} : { text: text.slice(0, 80) };
}

/** A line of a file; empty when there is none. */
function lineOf(path: string, line: number): string {
  try {
    return readFileSync(path, 'utf8').split('\n')[line - 1] ?? '';
  } catch {
    return '';
  }
}
