import type { WithoutFile } from '../desk/ingest/story-files.ts';
import { CLI } from '../shared/command-line.ts';
import { plural } from '../shared/plural.ts';
import { dayNeeds, minuteOf } from './day-needs.ts';
import type { DeskPaper } from './desk.ts';
import { lostPieces, openPieces, type PieceLine, problemsOf } from './outlook.ts';
import {
  escaped,
  LIST_STYLE,
  nameOf,
  OUTLOOKS,
  type PanelParts,
  problemList,
  SCRIPT,
  STYLE,
  savedLastLine,
} from './panel.ts';

/** The writing desk's own page: problems first, then open pieces, a preview of each front, and what the day needs. */
export function deskPage(parts: PanelParts): string {
  const { desk } = parts;
  // Papers with problems come first.
  const papers = [...desk.papers.values()]
    .sort((a, b) => Number(problemsOf(b).length > 0) - Number(problemsOf(a).length > 0))
    .map((paper) => paperRoom(paper, parts));
  const none = `<p>${escaped(desk.contentDir)} has no paper yet. Make one with <code>${CLI} new SLUG</code>.</p>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><link rel="icon" type="image/svg+xml" href="/favicon.svg"><title>Writing desk</title><style>${STYLE}${LIST_STYLE}</style>
<script type="module" src="${parts.reloader}"></script></head>
<body><main><header class="head"><h1>Writing desk</h1><p>${escaped(desk.contentDir)} as it stands on disk. Nothing here is filed.</p>
<div class="ways">${savedLastLine(parts)}<p><a href="/newsstand/">Newsstand</a></p></div></header>
${papers.length === 0 ? none : papers.join('\n')}</main>${SCRIPT}</body></html>
`;
}

function paperRoom(paper: DeskPaper, parts: PanelParts): string {
  const { desk, filed, now } = parts;
  const slug = escaped(paper.slug);
  const open = openPieces(paper, filed, now);
  const problems = problemsOf(paper);
  const by = (outlook: PieceLine['outlook'], filed?: PieceLine['filed']) =>
    open.filter((line) => line.outlook === outlook && (filed === undefined || line.filed === filed));
  const list = (title: string, lines: PieceLine[]) =>
    lines.length === 0
      ? ''
      : `<h3>${title} (${lines.length})</h3><ul class="pieces">${lines.map((line) => pieceCard(line, paper)).join('')}</ul>`;
  const record = desk.store.desk.paper(paper.slug);
  const needs = dayNeeds(paper, { sections: record?.sections ?? [], open, now }).map(({ text, url, command }) => {
    const words = url === undefined ? escaped(text) : `<a href="${escaped(url)}">${escaped(text)}</a>`;
    return `<li>${words}${command === undefined ? '' : ` <code>${escaped(command)}</code>`}</li>`;
  });
  // A paper that the filing door refuses has no front.
  const front = `<div class="front" inert><iframe src="/${slug}/?bare" title="" sandbox="allow-same-origin" tabindex="-1" loading="lazy"></iframe></div>`;
  return `<section id="${slug}" aria-labelledby="${slug}-name"><h2 id="${slug}-name"><a href="/${slug}/"><bdi>${escaped(nameOf(desk, paper.slug))}</bdi></a></h2>
<div class="room"><div class="work">
${problems.length === 0 ? '<p class="fine">No problems: every piece can be filed.</p>' : `<h3>Problems (${problems.length})</h3>${problemList(problems, parts, null)}`}
${lostList(lostPieces(paper, desk, filed))}${list('Refused', by('refused'))}${list('Drafts', by('draft'))}${list('Scheduled', by('scheduled'))}
${list('Not yet filed', by('on_air', 'never'))}${list('Changed since they were filed', by('on_air', 'changed'))}
${open.length > 0 ? '' : paper.pieces.size === 0 ? '<p>No pieces yet.</p>' : `<p>No drafts: what is here goes on air as it is (${plural(paper.pieces.size, 'piece')}).</p>`}</div>
${record === null ? '' : `<div class="day">${front}<h3>What the day needs</h3><ul class="needs">${needs.join('')}</ul></div>`}</div></section>`;
}

function lostList(lost: WithoutFile[]): string {
  if (lost.length === 0) return '';
  const rows = lost.map((piece) => {
    const where =
      piece.renamed_to === null
        ? `${piece.file} was deleted: put it back, or withdraw the piece`
        : `${piece.file} is now ${piece.renamed_to}, a piece of its own: to keep one of the two`;
    return `<li><b>${escaped(piece.slug)}</b> <small>${escaped(where)}</small> <code>${escaped(piece.command)}</code></li>`;
  });
  return `<h3>On air without a file (${lost.length})</h3><ul class="lost">${rows.join('')}</ul>`;
}

/** A piece with its picture, its byline, and its problems. */
function pieceCard({ slug, outlook, air, problems, url, headline }: PieceLine, paper: DeskPaper): string {
  const filing = paper.pieces.get(slug)?.filings.at(-1);
  const picture = filing?.image
    ? `<img src="/${escaped(paper.slug)}/${escaped(filing.image.src)}" alt="" loading="lazy">`
    : `<span class="blank" aria-hidden="true">${escaped([...headline][0] ?? '')}</span>`;
  const facts = [
    ...(outlook === 'scheduled' && typeof air === 'number' ? [minuteOf(air)] : []),
    ...(problems.length === 0 ? [] : [plural(problems.length, 'problem')]),
    ...(filing === undefined ? [] : [plural(filing.cited_facts.length, 'source')]),
  ];
  const place = [filing?.category, filing?.persona].filter(Boolean).join(' · ');
  return `<li>${picture}<div><small><bdi>${escaped(place)}</bdi></small><a dir="auto" href="${escaped(url)}">${escaped(headline)}</a>
<p class="state ${outlook}"><b>${OUTLOOKS[outlook]}</b> ${escaped(facts.join(', '))}</p></div></li>`;
}
