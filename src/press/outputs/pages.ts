import { isoTime } from '../../time.ts';
import type { Edition } from '../edition.ts';
import { singleOutput } from '../output.ts';
import { plainProseHtml } from '../prose-html.ts';
import { agentsText, skillText, standardsText } from '../standards-text.ts';
import type { CorrectionsView, DeskPageView } from '../views.ts';
import { frameOf } from './frame.ts';

/** How many corrections the page shows. */
const CORRECTIONS_MAX = 200;

/** The pages that every paper has exactly once. */
export const pages = [
  singleOutput('search', 'list', async (edition, { render }) => {
    const view = deskPage(edition, 'search/', 'Search', 'Search every piece on air.');
    return [{ path: 'search/index.html', body: await render('/paper/search', view) }];
  }),
  singleOutput('subscribe', 'list', async (edition, { render }) => {
    const view = deskPage(edition, 'subscribe/', 'Subscribe', 'New pieces by mail: at once, daily or weekly.');
    return [{ path: 'subscribe/index.html', body: await render('/paper/subscribe', view) }];
  }),
  singleOutput('corrections', 'list', async (edition, { render }) => {
    const { base } = edition.site;
    const view: CorrectionsView = {
      frame: frameOf(edition, {
        path: 'corrections/',
        title: 'Corrections',
        description: 'What this paper got wrong, and what is right.',
      }),
      rows: edition.corrections(CORRECTIONS_MAX).map((row) => ({
        at: isoTime(row.at),
        kind: row.kind,
        note: row.note,
        headline: row.headline,
        url: `${base}/stories/${row.slug}/`,
      })),
      standards_url: `${base}/standards/`,
    };
    return [{ path: 'corrections/index.html', body: await render('/paper/corrections', view) }];
  }),
  singleOutput('standards', 'list', async (edition, { render }) => {
    const heading = 'How this desk works';
    const view = {
      frame: frameOf(edition, {
        path: 'standards/',
        title: heading,
        description: 'Who writes this paper, how facts are sourced, how errors are corrected, what a receipt proves.',
      }),
      heading,
      html: plainProseHtml(standardsText(edition.paper(), edition.site)),
    };
    return [{ path: 'standards/index.html', body: await render('/paper/standards', view) }];
  }),
  singleOutput('agents', 'list', async (edition, { render }) => {
    const heading = 'For agents';
    const paper = edition.paper();
    const view = {
      frame: frameOf(edition, {
        path: 'agents/',
        title: heading,
        description: `How a program finds, reads, searches and verifies ${paper.nameplate}.`,
      }),
      heading,
      html: plainProseHtml(agentsText(paper, edition.site)),
    };
    return [
      { path: 'agents/index.html', body: await render('/paper/agents', view) },
      { path: 'agents/SKILL.md', body: skillText(paper, edition.site) },
    ];
  }),
  singleOutput('not-found', 'list', async (edition, { render }) => {
    const frame = frameOf(edition, {
      path: '404.html',
      title: 'Not found',
      description: 'There is no page at this address.',
      noindex: true,
    });
    return [{ path: '404.html', body: await render('/paper/not-found', { frame }) }];
  }),
];

function deskPage(edition: Edition, path: string, title: string, description: string): DeskPageView {
  return { frame: frameOf(edition, { path, title, description }), api: `${edition.site.base}/api/v1` };
}
