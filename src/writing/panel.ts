import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileProblem } from '../ingest/source-file.ts';
import type { FiledDigests } from '../store/filed-digests.ts';
import { isoTime } from '../time.ts';
import type { WritingDesk } from './desk.ts';
import type { PieceLine } from './outlook.ts';
import { openPieces, pieceLine, problemsOf } from './outlook.ts';

/** Where the desk's lists are. */
export const DESK_PATH = '/_desk/';

/** The most problems that the panel shows; the lists show all. */
const PANEL_MAX = 50;

const OUTLOOKS = { refused: 'Refused', draft: 'Draft', scheduled: 'Scheduled', on_air: 'On air when filed' } as const;

/** What the panel needs to know of the desk. */
export interface PanelParts {
  desk: WritingDesk;
  filed: FiledDigests;
  now: number;
}

/**
 * A page of the desk with the panel beside it, and a mark after each headline of a piece that is not simply on air.
 * The panel is in a shadow tree: the paper's style does not reach it, nor its style the paper. Its element comes
 * first, in the flow on a narrow screen, so that it never covers anything.
 */
export function withPanel(html: string, path: string, parts: PanelParts): string {
  const panel = panelFor(path, parts);
  // The way past it stays the first link of the page.
  const opened = html.replace(
    /<a class="skip"[^>]*>[^<]*<\/a>|<body[^>]*>(?!\s*<a class="skip")/,
    (start) => start + panel,
  );
  return opened.replace('</head>', () => `<style>${PAGE_STYLE}${marks(html, parts)}</style></head>`);
}

/** The page that lists all problems, and the pieces that are not on air as they are. */
export function deskPage(parts: PanelParts): string {
  const { desk, filed, now } = parts;
  const papers = [...desk.papers.values()].map((paper) => {
    const open = openPieces(paper, filed, now);
    const list = (title: string, lines: PieceLine[]) =>
      lines.length === 0 ? '' : `<h3>${title} (${lines.length})</h3><ul class="pieces">${lines.map(row).join('')}</ul>`;
    const problems = problemsOf(paper);
    const by = (outlook: PieceLine['outlook']) => open.filter((line) => line.outlook === outlook);
    const onAir = by('on_air');
    return `<section id="${escaped(paper.slug)}"><h2><a href="/${escaped(paper.slug)}/">${escaped(nameOf(desk, paper.slug))}</a></h2>
${problems.length === 0 ? '<p class="fine">The door has no objections.</p>' : `<h3>Problems (${problems.length})</h3>${problemList(problems, desk, null)}`}
${list('Refused', by('refused'))}${list('Drafts', by('draft'))}${list('Scheduled', by('scheduled'))}
${list(
  'Not yet filed',
  onAir.filter((line) => line.filed === 'never'),
)}${list(
  'Changed since they were filed',
  onAir.filter((line) => line.filed === 'changed'),
)}
${open.length === 0 ? `<p>No drafts: all ${paper.pieces.size} pieces go on air as they are.</p>` : ''}</section>`;
  });
  const none = `<p>${escaped(desk.contentDir)} has no paper yet. Make one with <code>npm run -s broadsheet -- new SLUG</code>.</p>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>Writing desk</title><style>${STYLE}${LIST_STYLE}</style>
<script type="module" src="/@vite/client"></script></head>
<body><main><h1>Writing desk</h1><p>${escaped(desk.contentDir)} as it stands on disk. Nothing here is filed.</p>
${last(parts)}<p><a href="/newsstand/">Newsstand</a></p>
${papers.length === 0 ? none : papers.join('\n')}</main>${script()}</body></html>
`;
}

function panelFor(path: string, parts: PanelParts): string {
  const { desk, filed, now } = parts;
  const [, slug = '', story] = /^\/([^/]+)\/(?:stories\/([^/]+)\/)?/.exec(path) ?? [];
  const paper = desk.papers.get(slug);
  const piece = paper?.pieces.get(story ?? '');
  const line = piece === undefined ? null : pieceLine(slug, piece, filed, now);
  const problems =
    line?.problems ?? (paper === undefined ? [...desk.papers.values()].flatMap(problemsOf) : problemsOf(paper));
  const shown = problems.slice(0, PANEL_MAX);
  const more =
    problems.length > shown.length
      ? `<p><a href="${DESK_PATH}#${escaped(slug)}">All ${problems.length} problems</a></p>`
      : '';
  const of = line !== null ? 'This piece' : paper !== undefined ? nameOf(desk, slug) : 'All papers';
  const count = problems.length === 1 ? '1 problem' : `${problems.length || 'No'} problems`;
  return `<broadsheet-desk data-targets="${escaped(JSON.stringify(shown.map((problem) => targetOf(problem, desk))))}"><template shadowrootmode="open"><style>${STYLE}${PANEL_STYLE}</style>
<aside aria-label="Writing desk"><p class="top"><a href="${DESK_PATH}">Writing desk</a> <span>Nothing here is filed.</span></p>
${line === null ? '' : `<p class="state ${line.outlook}"><b>${OUTLOOKS[line.outlook]}</b>${escaped(stateWords(line))}</p>`}
<h2>${escaped(of)}: ${count}</h2>
${shown.length === 0 ? '' : problemList(shown, desk, line === null ? null : path)}${more}
<div class="more">${paper === undefined || line !== null ? '' : counts(slug, openPieces(paper, filed, now))}${last(parts)}</div></aside></template></broadsheet-desk>${script()}`;
}

/** What is on the panel beside a piece's outlook: when, and how it stands to the ledger. */
function stateWords({ outlook, air, filed }: PieceLine): string {
  const when = outlook === 'scheduled' && typeof air === 'number' ? ` for ${isoTime(air)}` : '';
  const how = { draft: ', because its front matter says air: false', refused: ' by the filing door' };
  const words = { never: '; not filed yet', changed: '; changed since it was filed', as_it_is: '; filed as it is' };
  return `${when}${outlook in how ? how[outlook as keyof typeof how] : ''}${filed === null ? '' : words[filed]}.`;
}

function counts(slug: string, lines: PieceLine[]): string {
  const names = { refused: 'refused', draft: 'drafts', scheduled: 'scheduled', on_air: 'to be filed' } as const;
  const parts = (['refused', 'draft', 'scheduled', 'on_air'] as const)
    .map((outlook) => ({ outlook, n: lines.filter((line) => line.outlook === outlook).length }))
    .filter(({ n }) => n > 0)
    .map(({ outlook, n }) => `${n} ${outlook === 'draft' && n === 1 ? 'draft' : names[outlook]}`);
  return parts.length === 0 ? '' : `<p><a href="${DESK_PATH}#${escaped(slug)}">${parts.join(', ')}</a></p>`;
}

function last({ desk, filed, now }: PanelParts): string {
  const found = desk.savedLast();
  if (found === null) return '';
  const { url, headline } = pieceLine(found.paper, found.piece, filed, now);
  return `<p>Saved last: <a href="${escaped(url)}">${escaped(headline)}</a></p>`;
}

function row(line: PieceLine): string {
  const words =
    line.outlook === 'scheduled' && typeof line.air === 'number' ? ` <small>${isoTime(line.air)}</small>` : '';
  const count =
    line.problems.length === 0
      ? ''
      : ` <small>${line.problems.length} problem${line.problems.length === 1 ? '' : 's'}</small>`;
  return `<li><a href="${escaped(line.url)}">${escaped(line.headline)}</a>${words}${count}</li>`;
}

/** Problems, each with a link to its place: in the piece's page, and in the editor. */
function problemList(problems: readonly FileProblem[], desk: WritingDesk, path: string | null): string {
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

/** The page of the piece that a problem is about. */
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
function targetOf({ field, file, line }: FileProblem, desk: WritingDesk): { fact?: number; text?: string } {
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

/** A rule for each piece on the page whose files say something else than "on air". */
function marks(html: string, { desk, now }: PanelParts): string {
  const rules: string[] = [];
  for (const url of new Set(
    [...html.matchAll(/ href="(\/[^/"]+\/stories\/[^/"]+\/)"/g)].map(([, href = '']) => href),
  )) {
    const [, paper = '', , slug = ''] = url.split('/');
    const piece = desk.papers.get(paper)?.pieces.get(slug);
    if (piece === undefined) continue;
    const { outlook } = pieceLine(paper, piece, null, now);
    if (outlook === 'on_air') continue;
    rules.push(`${heading(`a[href="${url}"]`)}{content:"${OUTLOOKS[outlook]}"}`);
  }
  return rules.length === 0 ? '' : `${rules.join('')}${heading('a[href*="/stories/"]')}{${MARK_STYLE}}`;
}

/** The end of a headline with such a link: links themselves may be stretched over their whole block. */
const heading = (link: string): string => `:is(h1,h2,h3,h4):has(>${link})::after`;

function nameOf(desk: WritingDesk, slug: string): string {
  return desk.store.paper(slug)?.nameplate ?? slug;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const STYLE = `:host,:root{color-scheme:light dark}*{box-sizing:border-box}body,aside{font:14px/1.45 system-ui,sans-serif;color:light-dark(#1d1b19,#eceae6);background:light-dark(#f1eee8,#25221f)}
a{color:light-dark(#0b4f8a,#9ccbf7)}a:focus-visible,ol:focus-visible,li:focus-visible{outline:2px solid currentColor;outline-offset:1px}
h1,h2,h3,p,ol,ul{margin:0 0 .6em}h2{font-size:1em}h3{font-size:1em;margin-top:1em}.problems{padding:0;list-style:none}.problems li{margin:0 0 .6em;padding:.45em .6em;border-inline-start:3px solid #c0392b;background:light-dark(#fff,#171412);overflow-wrap:anywhere}
code{font:12px/1.4 ui-monospace,monospace}.place{font:12px/1.4 ui-monospace,monospace;display:block}
.state b{padding:.1em .45em;border-radius:.25em;background:#3d5a36;color:#fff}.state.draft b,.state.scheduled b{background:#8a4b00}.state.refused b{background:#a32a1c}`;
const PANEL_STYLE = `:host{display:block}aside{padding:.7em 1em;border-block-end:1px solid light-dark(#b9b2a6,#5c564e)}.top span{color:light-dark(#55504a,#b9b3aa)}.problems{max-height:40vh;overflow:auto}p:last-child{margin:0}
@media (min-width:1200px){aside{position:fixed;inset-block:0;inset-inline-end:0;width:20rem;overflow:auto;border-block-end:0;border-inline-start:1px solid light-dark(#b9b2a6,#5c564e)}.problems{max-height:none}}@media print{:host{display:none}}`;
const PAGE_STYLE = `@media screen and (min-width:1200px){body{margin-inline-end:20rem!important}}.broadsheet-flag{float:inline-end;margin-inline-start:.5em;padding:.1em .5em;border-radius:.2em;background:#a32a1c;color:#fff;font:600 12px/1.5 system-ui,sans-serif;text-decoration:none}@media print{.broadsheet-flag{display:none}}`;
const MARK_STYLE =
  'margin-inline-start:.5em;padding:.1em .4em;border-radius:.2em;background:#8a4b00;color:#fff;font:600 12px/1.4 system-ui,sans-serif;letter-spacing:0;vertical-align:middle;white-space:nowrap';
const LIST_STYLE =
  'body{margin:0}main{max-width:46rem;margin:auto;padding:1rem}h1{font-size:1.5rem}h2{font-size:1.2rem}section{margin-top:2rem}';

/**
 * Opens files in the editor without leaving the page, and marks the places of the problems on the page. Vite's client,
 * which every page has, reloads the page.
 */
function script(): string {
  return `<script type="module">
const host = document.querySelector('broadsheet-desk');
const root = host?.shadowRoot ?? document;
for (const link of root.querySelectorAll('[data-editor]')) link.addEventListener('click', (event) => { event.preventDefault(); fetch(link.href); });
const places = [...document.querySelectorAll('.prose > *')];
for (const [index, { fact, text }] of JSON.parse(host?.dataset.targets ?? '[]').entries()) {
  const place = fact ? document.getElementById('fact-' + fact) : text ? places.find((one) => one.textContent.includes(text)) : document.querySelector('.story h1');
  if (!place) continue;
  const flag = Object.assign(document.createElement('a'), { className: 'broadsheet-flag', href: '#desk-problem-' + (index + 1), textContent: 'Problem ' + (index + 1) });
  flag.addEventListener('click', (event) => { event.preventDefault(); root.getElementById(flag.hash.slice(1)).focus(); });
  if (place.matches('li')) place.prepend(flag); else place.before(flag);
}
</script>`;
}
