import { fill } from '../../phrases/fill.ts';
import { phrasesOf } from '../../phrases/tables.ts';
import type { Edition } from '../edition.ts';
import { singleOutput } from '../output.ts';
import { plainProseHtml } from '../prose-html.ts';
import { agentsText, standardsText } from '../standards-text.ts';
import type { CorrectionsView, DeskPageView } from '../views.ts';
import { correctionRows } from './corrections.ts';
import { frameOf } from './frame.ts';

/** How many corrections the page shows. */
const CORRECTIONS_MAX = 200;

/** The pages that every paper has exactly once. */
export const pages = [
  singleOutput('search', 'list', async (edition, { render }) => {
    const { title, description } = phrasesOf(edition.paper().language).search;
    const view = deskPage(edition, 'search/', title, description);
    return [{ path: 'search/index.html', body: await render('/paper/search', view) }];
  }),
  singleOutput('subscribe', 'list', async (edition, { render }) => {
    const { title, description } = phrasesOf(edition.paper().language).subscribe;
    const view = deskPage(edition, 'subscribe/', title, description);
    return [{ path: 'subscribe/index.html', body: await render('/paper/subscribe', view) }];
  }),
  singleOutput('corrections', 'list', async (edition, { render }) => {
    const { base } = edition.site;
    const { title, description } = phrasesOf(edition.paper().language).corrections;
    const view: CorrectionsView = {
      frame: frameOf(edition, { path: 'corrections/', title, description }),
      rows: correctionRows(edition, CORRECTIONS_MAX),
      standards_url: `${base}/standards/`,
    };
    return [{ path: 'corrections/index.html', body: await render('/paper/corrections', view) }];
  }),
  singleOutput('standards', 'list', async (edition, { render }) => {
    const t = phrasesOf(edition.paper().language);
    const heading = t.page.how;
    const view = {
      frame: frameOf(edition, { path: 'standards/', title: heading, description: t.standards.description }),
      heading,
      html: plainProseHtml(standardsText(edition.paper(), edition.site)),
    };
    return [{ path: 'standards/index.html', body: await render('/paper/standards', view) }];
  }),
  singleOutput('agents', 'list', async (edition, { render }) => {
    const paper = edition.paper();
    const t = phrasesOf(paper.language).agents;
    const heading = t.title;
    // Here, because YAML is 72 modules, and only one thread of a press prints this.
    const { skillText } = await import('../skill-text.ts');
    const view = {
      frame: frameOf(edition, {
        path: 'agents/',
        title: heading,
        description: fill(t.description, { paper: paper.nameplate }),
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
    const t = phrasesOf(edition.paper().language).not_found;
    const frame = frameOf(edition, { path: '404.html', title: t.title, description: t.description, noindex: true });
    return [{ path: '404.html', body: await render('/paper/not-found', { frame }) }];
  }),
];

function deskPage(edition: Edition, path: string, title: string, description: string): DeskPageView {
  return { frame: frameOf(edition, { path, title, description }), api: `${edition.site.base}/api/v1` };
}
