import { motifOf } from '../../../media/motif.ts';
import { fill } from '../../../phrases/fill.ts';
import { phrasesOf } from '../../../phrases/tables.ts';
import { isoTime } from '../../../proof/time.ts';
import { needsScriptFonts, SCRIPT_FAMILIES } from '../../../shared/script-letters.ts';
import { dependencies } from '../../dependencies.ts';
import { RESERVED_PAGES } from '../../door/reserved.ts';
import { factUrl } from '../../fact.ts';
import { mastheadRow } from '../../papers/front.ts';
import { pageSlugProblem } from '../../papers/page.ts';
import { sampleMail } from '../../readers/paper-letter.ts';
import { noticeOf } from '../../withdrawal.ts';
import type { Edition, Site } from '../edition.ts';
import { channelOf } from '../feeds/channel.ts';
import { correctionsRss } from '../feeds/rss.ts';
import { keysAfter, type Output, singleOutput } from '../output.ts';
import { pageProse } from '../page-prose.ts';
import { plainProseHtml, proseHtml, SUBSCRIBE_BOX } from '../prose-html.ts';
import { agentsText, skillIndex, skillText, standardsText } from '../standards-text.ts';
import type { CorrectionsView } from '../views.ts';
import { yearsOf } from './day.ts';
import { frameOf, linksOf, prosePicture } from './frame.ts';

const CORRECTIONS_MAX = 200;
const FEED_MAX = 50;
/** The path of a sample mail, and how many pieces it has. There is no sample before the first piece. */
export const SAMPLE = 'subscribe/sample/';
const SAMPLE_PIECES = 4;
const CORRECTIONS_FEED = 'corrections/rss.xml';

/** The sample of a mail in another script, with the paper's fonts for systems that have none. */
const withFonts = (mail: string, { base }: Site): string =>
  mail
    .replace('</head>', () => `<link rel="stylesheet" href="${base}/fonts.css"></head>`)
    .replace(/ style="[^"]*"/g, (style) => style.replace(/, (?=(?:sans-)?serif)/, `, ${SCRIPT_FAMILIES}, `));

/** The pages that every paper has exactly once. */
export const pages = [
  singleOutput('search', 'list', async (edition, { render }) => {
    const { page, search: t } = phrasesOf(edition.paper().language);
    const frame = frameOf(edition, { path: 'search/', title: page.search, description: t.description });
    const view = {
      frame,
      api: `${edition.site.base}/api/v1`,
      sections: frame.paper.sections.map((section) => ({ ...section, motif: motifOf(section.name) })),
      years: yearsOf(edition),
    };
    return [{ path: 'search/index.html', body: await render('/paper/search', view) }];
  }),
  singleOutput('subscribe', 'list', async (edition, { render }) => {
    const { page, subscribe: t } = phrasesOf(edition.paper().language);
    const frame = frameOf(edition, { path: 'subscribe/', title: page.subscribe, description: t.description });
    // Reads the months, which seldom change, and not the newest pieces, which change with each airing.
    const sample_url = edition.months().length === 0 ? null : `${edition.site.base}/${SAMPLE}`;
    const view = { frame, api: `${edition.site.base}/api/v1`, sample_url };
    return [{ path: 'subscribe/index.html', body: await render('/paper/subscribe', view) }];
  }),
  {
    // Absent before the first piece.
    ...singleOutput('sample-mail', 'list', async (edition, { render }) => {
      const [newest, ...others] = edition.newest(SAMPLE_PIECES);
      if (newest === undefined) return [];
      const mail = sampleMail(edition, edition.paper(), edition.site.base, [newest, ...others]);
      // Makes the mail a page: no search engine indexes it, its links leave the frame in which it is shown, and its
      // text is a landmark.
      const head = '<head><meta name="robots" content="noindex" /><base target="_blank" />';
      const body = (await render('/mail', mail))
        .replace('<head>', () => head)
        .replace('<table ', '<main><table ')
        .replace('</body>', '</main></body>');
      return [{ path: `${SAMPLE}index.html`, body: needsScriptFonts(body) ? withFonts(body, edition.site) : body }];
    }),
    keysForDependency: (dependency: string) => (dependency === dependencies.newest ? [''] : []),
  },
  singleOutput('corrections', 'list', async (edition, { render }) => {
    const { page, corrections } = phrasesOf(edition.paper().language);
    const view = {
      frame: frameOf(edition, { path: 'corrections/', title: page.corrections, description: corrections.description }),
      rows: correctionRows(edition, CORRECTIONS_MAX),
      standards_url: `${edition.site.base}/standards/`,
      feed_url: `${edition.site.base}/${CORRECTIONS_FEED}`,
    };
    const rows = correctionRows(edition, FEED_MAX, edition.site.root);
    return [
      { path: 'corrections/index.html', body: await render('/paper/corrections', view) },
      { path: CORRECTIONS_FEED, body: correctionsRss(channelOf(edition), rows, CORRECTIONS_FEED) },
    ];
  }),
  singleOutput('standards', 'list', async (edition, { render }) => {
    const t = phrasesOf(edition.paper().language);
    const heading = t.page.how;
    const view = {
      frame: frameOf(edition, { path: 'standards/', title: heading, description: t.standards.description }),
      heading,
      html: plainProseHtml(standardsText(edition.paper(), edition.site)),
    };
    return [{ path: 'standards/index.html', body: await render('/paper/page', view) }];
  }),
  singleOutput('agents', 'list', async (edition, { render }) => {
    const paper = edition.paper();
    const t = phrasesOf(paper.language).agents;
    const description = fill(t.description, { paper: paper.nameplate });
    const { html, headings } = proseHtml(agentsText(paper, edition.site), [], (path) => path);
    const view = {
      frame: frameOf(edition, { path: 'agents/', title: t.title, description }),
      heading: t.title,
      about: description,
      name: paper.slug,
      mcp_absolute: `${edition.site.root}/mcp`,
      html,
      headings,
      tries: ['/api/v1/masthead', '/api/v1/stories?limit=3', '/api/v1/sections', '/api/v1/front', '/llms.txt'],
      answer: { path: '/api/v1/masthead', text: JSON.stringify(mastheadAnswer(edition), null, 2) },
    };
    return [
      { path: 'agents/index.html', body: await render('/paper/agents', view) },
      { path: 'agents/SKILL.md', body: skillText(paper, edition.site) },
      { path: '.well-known/agent-skills/index.json', body: skillIndex([{ paper, root: edition.site.root }]) },
    ];
  }),
  singleOutput('not-found', 'list', async (edition, { render }) => {
    const { title, description } = phrasesOf(edition.paper().language).not_found;
    const frame = frameOf(edition, { path: '404.html', title, description, noindex: true });
    return [{ path: '404.html', body: await render('/paper/not-found', { frame }) }];
  }),
];

/** The response of `GET /api/v1/masthead`. */
function mastheadAnswer(edition: Edition) {
  const { slug, nameplate } = edition.paper();
  const links = linksOf(edition);
  const masthead = edition.masthead().map((persona) => mastheadRow(persona, links));
  return { desk: slug, nameplate, count: masthead.length, masthead, next_cursor: null };
}

/** One of the paper's own pages. */
export const page: Output = {
  kind: 'page',
  stage: 'list',
  paths: new RegExp(`^(?!(?:${RESERVED_PAGES.join('|')})/)([a-z0-9-]+)/index\\.html$`),
  keysForDependency: keysAfter(dependencies.page('')),
  allKeys: (edition) => edition.pages().map(({ slug }) => slug),
  async print(edition, slug, { render }) {
    const found = edition.page(slug);
    // If a newer version of the program uses the address itself, the page is not shown.
    if (found === null || pageSlugProblem(slug) !== null) return null;
    const { title, description, prose, language = edition.paper().language } = found;
    const whole = await pageProse(prose, [], language, (path) => prosePicture(edition, path), { hasBox: true });
    const [html = '', rest] = whole.html.split(SUBSCRIBE_BOX);
    const view = {
      frame: frameOf(edition, { path: `${slug}/`, title, description, language }),
      heading: title,
      url: `${edition.site.base}/${slug}/`,
      html,
      rest,
    };
    return [{ path: `${slug}/index.html`, body: await render('/paper/page', view) }];
  },
};

/** The newest corrections of pieces and facts. `base` is the prefix of their addresses. */
export function correctionRows(edition: Edition, limit: number, base = edition.site.base): CorrectionsView['rows'] {
  const pieces = edition.corrections(limit).map((row) => {
    const { at, kind, note } = row;
    const named = noticeOf(row);
    const url = `${base}/stories/${named?.slug}/`;
    return { at, kind, note, piece: named && { headline: named.headline, url } };
  });
  const facts = edition.correctedFacts(limit).map(({ claim_key, status, statement, changed_at, changed_note }) => ({
    ...{ at: changed_at ?? 0, note: changed_note ?? '' },
    kind: status === 'retracted' ? ('retracted' as const) : ('corrected' as const),
    piece: { headline: statement, url: factUrl(base, claim_key) },
  }));
  const rows = [...pieces, ...facts].sort((a, b) => b.at - a.at).slice(0, limit);
  return rows.map((row) => ({ ...row, at: isoTime(row.at) }));
}
