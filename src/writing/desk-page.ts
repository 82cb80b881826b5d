import type { WithoutFile } from '../desk/ingest/story-files.ts';
import { isoTime } from '../proof/time.ts';
import { CLI } from '../shared/command-line.ts';
import { plural } from '../shared/plural.ts';
import { lostPieces, openPieces, type PieceLine, problemsOf } from './outlook.ts';
import { escaped, LIST_STYLE, nameOf, type PanelParts, problemList, SCRIPT, STYLE, savedLastLine } from './panel.ts';

/** The page that lists all problems, and the pieces that are not on air as they are. */
export function deskPage(parts: PanelParts): string {
  const { desk, filed, now } = parts;
  const papers = [...desk.papers.values()].map((paper) => {
    const open = openPieces(paper, filed, now);
    const list = (title: string, lines: PieceLine[]) =>
      lines.length === 0
        ? ''
        : `<h3>${title} (${lines.length})</h3><ul class="pieces">${lines.map(pieceRow).join('')}</ul>`;
    const problems = problemsOf(paper);
    const by = (outlook: PieceLine['outlook'], filed?: PieceLine['filed']) =>
      open.filter((line) => line.outlook === outlook && (filed === undefined || line.filed === filed));
    return `<section id="${escaped(paper.slug)}"><h2><a href="/${escaped(paper.slug)}/">${escaped(nameOf(desk, paper.slug))}</a></h2>
${problems.length === 0 ? '<p class="fine">The door has no objections.</p>' : `<h3>Problems (${problems.length})</h3>${problemList(problems, parts, null)}`}
${lostList(lostPieces(paper, desk, filed))}${list('Refused', by('refused'))}${list('Drafts', by('draft'))}${list('Scheduled', by('scheduled'))}
${list('Not yet filed', by('on_air', 'never'))}${list('Changed since they were filed', by('on_air', 'changed'))}
${open.length === 0 ? `<p>No drafts: all ${paper.pieces.size} pieces go on air as they are.</p>` : ''}</section>`;
  });
  const none = `<p>${escaped(desk.contentDir)} has no paper yet. Make one with <code>${CLI} new SLUG</code>.</p>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>Writing desk</title><style>${STYLE}${LIST_STYLE}</style>
<script type="module" src="${parts.reloader}"></script></head>
<body><main><h1>Writing desk</h1><p>${escaped(desk.contentDir)} as it stands on disk. Nothing here is filed.</p>
${savedLastLine(parts)}<p><a href="/newsstand/">Newsstand</a></p>
${papers.length === 0 ? none : papers.join('\n')}</main>${SCRIPT}</body></html>
`;
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
  return `<h3>On air without a file (${lost.length})</h3><ul class="pieces">${rows.join('')}</ul>`;
}

function pieceRow(line: PieceLine): string {
  const { outlook, air, problems, url, headline } = line;
  const words = outlook === 'scheduled' && typeof air === 'number' ? ` <small>${isoTime(air)}</small>` : '';
  const count = problems.length === 0 ? '' : ` <small>${plural(problems.length, 'problem')}</small>`;
  return `<li><a href="${escaped(url)}">${escaped(headline)}</a>${words}${count}</li>`;
}
