import type { WithoutFile } from '../desk/ingest/story-files.ts';
import { isoTime } from '../proof/time.ts';
import { DESK_PATH } from './desk-page.ts';
import { lostPieces, openPieces, type PieceLine, pieceLine, problemsOf } from './outlook.ts';
import {
  BADGE_STYLE,
  escaped,
  nameOf,
  PAGE_STYLE,
  PANEL_STYLE,
  type PanelParts,
  problemList,
  SCRIPT,
  STYLE,
  savedLastLine,
  targetOf,
} from './panel-parts.ts';

/** The most problems that the panel shows; the lists show all. */
const PANEL_MAX = 50;

const OUTLOOKS = { refused: 'Refused', draft: 'Draft', scheduled: 'Scheduled', on_air: 'On air when filed' } as const;

/**
 * A page of the desk with the panel beside it, and a badge after each headline of a piece that is not simply on air.
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
<aside lang="en" dir="ltr" aria-label="Writing desk"><p class="top"><a href="${DESK_PATH}">Writing desk</a> <span>Nothing here is filed.</span></p>
${line === null ? '' : `<p class="state ${line.outlook}"><b>${OUTLOOKS[line.outlook]}</b>${escaped(stateWords(line))}</p>`}
<h2>${escaped(of)}: ${count}</h2>
${shown.length === 0 ? '' : problemList(shown, desk, line === null ? null : path)}${more}
${lostLine(lost)}
<div class="more">${paper === undefined || line !== null ? '' : counts(slug, openPieces(paper, filed, now))}${savedLastLine(parts)}</div></aside></template></broadsheet-desk>${SCRIPT}`;
}

function lostLine(lost: WithoutFile[]): string {
  if (lost.length === 0) return '';
  const [{ paper, slug } = { paper: '', slug: '' }] = lost;
  const rest = lost.length === 1 ? '' : ` and ${lost.length - 1} more`;
  return `<p><a href="${DESK_PATH}#${escaped(paper)}">On air without a file: ${escaped(slug)}${rest}</a></p>`;
}

/** What is on the panel beside a piece's outlook: when it airs, and how it compares with the ledger. */
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

/** A rule for each piece on the page whose files say something else than "on air". */
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

/** The end of a headline with such a link: links themselves may be stretched over their whole block. */
const heading = (link: string): string => `:is(h1,h2,h3,h4):has(>${link})::after`;
