import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileProblem } from '../desk/ingest/source-file.ts';
import type { WithoutFile } from '../desk/ingest/story-files.ts';
import { isoTime } from '../proof/time.ts';
import type { FiledContent } from '../store/desk/filed-content.ts';
import type { WritingDesk } from './desk.ts';
import { lostPieces, openPieces, type PieceLine, pieceLine, problemsOf } from './outlook.ts';

/** The most problems that the panel shows; the lists show all. */
const PANEL_MAX = 50;

export const OUTLOOKS = {
  refused: 'Refused',
  draft: 'Draft',
  scheduled: 'Scheduled',
  on_air: 'On air when filed',
} as const;

/**
 * A page of the desk with the panel beside it, and a badge after each headline of a piece that is not simply on air.
 * The panel is in a shadow tree: the paper's style does not reach it, nor its style the paper. Its element comes
 * first, in the flow on a narrow screen, so that it never covers anything.
 */
export function withPanel(html: string, path: string, parts: PanelParts): string {
  const panel = panelFor(path, parts);
  // The skip link stays the first link of the page.
  const opened = html.replace(
    /<a class="skip"[^>]*>[^<]*<\/a>|<body[^>]*>(?!\s*<a class="skip")/,
    (start) => start + panel,
  );
  return opened.replace('</head>', () => `<style>${PAGE_STYLE}${badges(html, parts)}</style></head>`);
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
  const lost = paper === undefined || line !== null ? [] : lostPieces(paper, desk, filed);
  const of = line !== null ? 'This piece' : paper !== undefined ? nameOf(desk, slug) : 'All papers';
  const count = problems.length === 1 ? '1 problem' : `${problems.length || 'No'} problems`;
  return `<broadsheet-desk data-targets="${escaped(JSON.stringify(shown.map((problem) => targetOf(problem, desk))))}"><template shadowrootmode="open"><style>${STYLE}${PANEL_STYLE}</style>
<aside lang="en" dir="ltr" aria-label="Writing desk"><div class="bar"><p class="top"><a href="${DESK_PATH}">Writing desk</a> <span>Nothing here is filed.</span></p>
<h2>${escaped(of)}: ${count}</h2>
${line === null ? '' : `<p class="state ${line.outlook}"><b>${OUTLOOKS[line.outlook]}</b>${escaped(stateWords(line))}</p>`}</div>
${shown.length === 0 ? '' : problemList(shown, parts, line === null ? null : path)}${more}
${lostLine(lost)}
<div class="more">${paper === undefined || line !== null ? '' : counts(slug, openPieces(paper, filed, now))}${savedLastLine(parts)}</div></aside></template></broadsheet-desk>${SCRIPT}`;
}

function lostLine(lost: WithoutFile[]): string {
  if (lost.length === 0) return '';
  const [{ paper, slug } = { paper: '', slug: '' }] = lost;
  const rest = lost.length === 1 ? '' : ` and ${lost.length - 1} more`;
  return `<p><a href="${DESK_PATH}#${escaped(paper)}">On air without a file: ${escaped(slug)}${rest}</a></p>`;
}

/** The words after a piece's outlook on the panel: when it airs, and how it compares with the ledger. */
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

/** A CSS rule for each piece on the page whose outlook is not "on air". */
function badges(html: string, { desk, now }: PanelParts): string {
  const rules: string[] = [];
  const hrefs = [...html.matchAll(/ href="(\/[^/"]+\/stories\/[^/"]+\/)"/g)].map(([, href = '']) => href);
  for (const url of new Set(hrefs)) {
    const [, paper = '', , slug = ''] = url.split('/');
    const piece = desk.papers.get(paper)?.pieces.get(slug);
    if (piece === undefined) continue;
    const { outlook } = pieceLine(paper, piece, null, now);
    if (outlook === 'on_air') continue;
    rules.push(`${heading(`a[href="${url}"]`)}{content:"${OUTLOOKS[outlook]}"}`);
  }
  return rules.length === 0 ? '' : `${rules.join('')}${heading('a[href*="/stories/"]')}{${BADGE_STYLE}}`;
}

/** The selector of a headline with such a link: not of the link, which may be stretched over the whole block. */
const heading = (link: string): string => `:is(h1,h2,h3,h4):has(>${link})::after`;

export const DESK_PATH = '/_desk/';

export interface PanelParts {
  desk: WritingDesk;
  filed: FiledContent;
  now: number;
  /** See `DevDesk`. */
  reloader: string;
  opensEditor: boolean;
}

/** The line that leads to the piece that was saved last; empty without one. */
export function savedLastLine({ desk, filed, now }: PanelParts): string {
  const found = desk.savedLast();
  if (found === null) return '';
  const { url, headline } = pieceLine(found.paper, found.piece, filed, now);
  return `<p>Saved last: <a href="${escaped(url)}"><bdi>${escaped(headline)}</bdi></a></p>`;
}

/** The nameplate of a paper, or its slug while the door refuses its record. */
export function nameOf(desk: WritingDesk, slug: string): string {
  return desk.store.desk.paper(slug)?.nameplate ?? slug;
}

/** A text for HTML, in content or in quotes. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Problems, each with links to its position on the piece's page and in the editor. */
export function problemList(
  problems: readonly FileProblem[],
  { desk, opensEditor }: PanelParts,
  path: string | null,
): string {
  const items = problems.map((problem, index) => {
    const { file, line, field, message } = problem;
    const location = `${file}:${line}`;
    const editor = `/__open-in-editor?file=${encodeURIComponent(`${join(desk.contentDir, file)}:${line}`)}`;
    const place = opensEditor
      ? `<a class="place" href="${escaped(editor)}" data-editor>${escaped(location)}</a>`
      : `<span class="place">${escaped(location)}</span>`;
    const page = pageOf(problem, desk);
    const show =
      page === null
        ? ''
        : ` <a class="show" href="${escaped(path === page ? anchorOf(problem, desk) : page)}">Show on the page</a>`;
    return `<li id="desk-problem-${index + 1}" tabindex="-1">${place} <code>${escaped(field)}</code> ${escaped(message)}${show}</li>`;
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
function targetOf({ field, file, line }: FileProblem, desk: WritingDesk): { fact?: number; text?: string } {
  const fact = /^cited_facts\[(\d+)\]/.exec(field)?.[1];
  if (fact !== undefined) return { fact: Number(fact) + 1 };
  if (field !== 'prose') return {};
  const source = lineOf(join(desk.contentDir, file), line);
  // The longest run without markup, because the page shows it verbatim.
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

/** The style of the panel and of the desk's page. */
export const STYLE = `:host,:root{color-scheme:light dark}*{box-sizing:border-box}body,aside{font:14px/1.45 system-ui,sans-serif;color:light-dark(#1d1b19,#eceae6);background:light-dark(#f1eee8,#25221f)}
a{color:light-dark(#0b4f8a,#9ccbf7)}a:focus-visible,ol:focus-visible,li:focus-visible{outline:2px solid currentColor;outline-offset:1px}
h1,h2,h3,p,ol,ul{margin:0 0 .6em}h2{font-size:1em}h3{font-size:1em;margin-top:1em}.problems{padding:0;list-style:none}.problems li{margin:0 0 .6em;padding:.45em .6em;border-inline-start:3px solid #c0392b;background:light-dark(#fff,#171412);overflow-wrap:anywhere}
code{font:12px/1.4 ui-monospace,monospace}.problems code{font-weight:700}.problems .show{white-space:nowrap}.place{font:12px/1.4 ui-monospace,monospace;display:block}
.state b{padding:.1em .45em;border-radius:.25em;background:#3d5a36;color:#fff}.state.draft b,.state.scheduled b{background:#8a4b00}.state.refused b{background:#a32a1c}`;
/** The style of the panel alone. */
const PANEL_STYLE = `:host{display:block}aside{padding:.6em 1em;border-block-end:1px solid light-dark(#b9b2a6,#5c564e)}.bar,.more{display:flex;flex-wrap:wrap;gap:.1em 1.5em;align-items:baseline}.bar>*,.more>*{margin:0}.top span{color:light-dark(#55504a,#b9b3aa)}.problems{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(24em,100%),1fr));gap:.5em;max-height:30vh;margin-block-start:.6em;overflow:auto}.problems li{margin:0}
@media (min-width:1800px){aside{position:fixed;inset-block:0;inset-inline-end:0;width:20rem;overflow:auto;border-block-end:0;border-inline-start:1px solid light-dark(#b9b2a6,#5c564e)}.bar,.more{display:block}.bar>*,.more>*{margin:0 0 .6em}.problems{display:block;max-height:none}.problems li{margin:0 0 .6em}}@media print{:host{display:none}}`;
/**
 * The style of the paper's page with the panel, which is beside it only if the page keeps the width that readers see.
 */
const PAGE_STYLE = `@media screen and (min-width:1800px){body{margin-inline-end:20rem!important}}.broadsheet-flag{float:inline-end;justify-self:end;align-self:flex-start;width:fit-content;margin:0 0 .2em .5em;padding:.1em .5em;border-radius:.2em;background:#a32a1c;color:#fff;font:600 12px/1.5 system-ui,sans-serif;text-decoration:none}@media print{.broadsheet-flag{display:none}}`;
/** The badge after a headline: declarations without a selector. */
const BADGE_STYLE =
  'margin-inline-start:.5em;padding:.1em .4em;border-radius:.2em;background:#8a4b00;color:#fff;font:600 12px/1.4 system-ui,sans-serif;letter-spacing:0;vertical-align:middle;white-space:nowrap';
/** The style of the desk's page alone. */
export const LIST_STYLE = `body{margin:0}main{max-width:84rem;margin:auto;padding:1.5rem}h1{font-size:1.9rem;letter-spacing:-.01em;margin:0}
.head{display:flex;flex-wrap:wrap;gap:.2rem 1.5rem;align-items:baseline;padding-block-end:1rem;border-block-end:3px double light-dark(#b9b2a6,#5c564e)}.head p{margin:0;overflow-wrap:anywhere}.ways{display:flex;flex-wrap:wrap;gap:.2rem 1.5rem;margin-inline-start:auto}
section{margin-block-start:1.75rem}h2{font:700 1.6rem/1.2 Georgia,serif;margin:0 0 .5rem}h2 a{color:inherit;text-decoration:none}h2 a:hover{text-decoration:underline}.room{display:grid;grid-template-columns:minmax(0,1fr);gap:2rem}.work>:first-child,.day>h3:first-child{margin-block-start:0}
.fine{padding:.7rem .9rem;border-inline-start:3px solid #3d7a36;background:light-dark(#fff,#171412)}.pieces,.needs,.lost{padding:0;list-style:none}.pieces{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(19rem,100%),1fr));gap:.75rem}
.pieces li{display:grid;grid-template-columns:6.5rem minmax(0,1fr);gap:.8rem;padding:.7rem;background:light-dark(#fff,#171412);overflow-wrap:anywhere}.pieces :is(img,.blank){display:block;width:100%;aspect-ratio:1;object-fit:cover;background:light-dark(#e4dfd6,#302b27);color:light-dark(#55504a,#b9b3aa);font:700 2.6rem/6.5rem Georgia,serif;text-align:center;overflow:hidden}
.pieces small{display:block;color:light-dark(#55504a,#b9b3aa)}.pieces a{font:650 1.05rem/1.25 Georgia,serif;color:inherit}.pieces .state{margin:.35rem 0 0}
.front{max-width:min(25.6rem,100%);height:16rem;margin-block-end:1rem;overflow:hidden;border:1px solid light-dark(#b9b2a6,#5c564e);background:light-dark(#fff,#171412)}.front iframe{width:calc(100%/.32);height:1280px;border:0;transform-origin:0 0;scale:.32}
.needs li,.lost li{padding:.45rem 0;border-block-start:1px solid light-dark(#cfc8bc,#453f39);overflow-wrap:anywhere}.needs code{display:block}
@media (min-width:40rem) and (max-width:59.99rem){.day{display:grid;grid-template-columns:minmax(0,25.6rem) minmax(0,1fr);gap:0 1.5rem}.day .front{grid-row:1/9;margin:0}.day h3{margin-block-start:0}}@media (min-width:60rem){.room{grid-template-columns:minmax(0,1fr) 25.6rem}.front{height:22rem}}@media print{:root{color-scheme:light}body{background:none}.front,.ways,.show{display:none}.pieces li,.problems li{break-inside:avoid;border:1px solid #999}}`;

/** Opens files in the editor without leaving the page, and flags the problems on it. `reloader` reloads the page. */
export const SCRIPT = `<script type="module">
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
