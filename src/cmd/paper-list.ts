import { Command } from 'commander';
import { withExistingData } from '../app/context.ts';
import { paperRoot } from '../desk/paper.ts';
import { readSettings } from '../env.ts';
import { plural } from '../plural.ts';
import { printResult } from '../terminal/output.ts';
import { isoTime } from '../time.ts';

/** `paper list` */
export function listPapers(): Command {
  return new Command('list')
    .description('list the papers: address, name, and how many pieces they have')
    .option('--json', 'print [{slug, name, url, public, on_air, scheduled, drafts, withdrawn, removed_at}]')
    .action(({ json }: { json?: boolean }) =>
      withExistingData(readSettings(), ({ store, settings }) => {
        const papers = store.paperSlugs().flatMap((slug) => store.paper(slug) ?? []);
        const removed = store.removedPapers();
        const rows = [...papers.map((paper) => ({ ...paper, removed_at: null })), ...removed].map((paper) => {
          const { on_air, scheduled, draft: drafts, withdrawn } = store.pieces.stateCounts(paper.slug);
          return {
            slug: paper.slug,
            name: paper.nameplate,
            url: paperRoot(paper, settings.origin),
            public: paper.paper_public,
            ...{ on_air, scheduled, drafts, withdrawn },
            removed_at: paper.removed_at === null ? null : isoTime(paper.removed_at),
          };
        });
        const width = Math.max(0, ...rows.map(({ slug }) => slug.length));
        const lines = rows.map(({ slug, name, url, removed_at, ...row }) => {
          const pieces = [
            `${row.on_air} on air`,
            ...(row.scheduled > 0 ? [`${row.scheduled} scheduled`] : []),
            plural(row.drafts, 'draft'),
          ];
          const state = removed_at === null ? pieces.join(', ') : `removed ${removed_at.slice(0, 10)}`;
          return `${slug.padEnd(width)}  ${name}  ${url}/  ${row.public ? 'public' : 'private'}  ${state}`;
        });
        const none = 'no papers; `npm run -s broadsheet -- new SLUG` starts one';
        printResult(json, rows, lines.length === 0 ? [none] : lines);
      }),
    );
}
