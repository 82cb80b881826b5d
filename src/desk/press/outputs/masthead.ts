import { motifOf } from '../../../media/motif.ts';
import { fill } from '../../../phrases/fill.ts';
import { phrasesOf } from '../../../phrases/tables.ts';
import { dependencies, PAGE_SIZE } from '../../dependencies.ts';
import { portraitPath } from '../../papers/masthead.ts';
import { channelOf, declared, type FeedItem } from '../feeds/channel.ts';
import { rss } from '../feeds/rss.ts';
import { keysAfter, type Output, singleOutput } from '../output.ts';
import type { MastheadView, PersonaView } from '../views.ts';
import { frameOf, portraitView, rowView } from './frame.ts';
import { feedItems } from './story.ts';

/** Maximum number of publishers on the page of a persona. */
const SOURCES_MAX = 5;

export const masthead = singleOutput('masthead', 'index', async (edition, { render }) => {
  const { base } = edition.site;
  const { nameplate, language } = edition.paper();
  const { page, masthead: t } = phrasesOf(language);
  const view: MastheadView = {
    frame: frameOf(edition, {
      path: 'masthead/',
      title: page.masthead,
      description: fill(t.description, { paper: nameplate }),
    }),
    personas: edition.masthead().map((persona) => ({
      ...persona,
      url: `${base}/masthead/${persona.slug}/`,
      avatar: portraitView(edition, persona),
    })),
    standards_url: `${base}/standards/`,
  };
  return [{ path: 'masthead/index.html', body: await render('/paper/masthead', view) }];
});

/** One persona and its newest pieces. An inactive persona keeps its page. */
export const persona: Output = {
  kind: 'persona',
  stage: 'list',
  paths: /^masthead\/([^/]+)\/(?:index\.html|rss\.xml)$/,
  keysForDependency: keysAfter(dependencies.persona('')),
  allKeys: (edition) => edition.archive.personaSlugs(),
  async print(edition, slug, { render }) {
    const found = edition.persona(slug);
    if (found === null) return null;
    const rows = edition.newest(PAGE_SIZE, { persona: slug });
    const path = `masthead/${slug}/rss.xml`;
    const channel = channelOf(edition);
    const list = { name: declared(channel, found.name), path: `masthead/${slug}/` };
    const items = feedItems(edition, rows);
    const view: PersonaView = {
      ...found,
      record: edition.personaCounts(slug),
      sources: mostCited(items),
      frame: frameOf(edition, {
        path: `masthead/${slug}/`,
        title: fill(phrasesOf(edition.paper().language).masthead.persona, { name: found.name, title: found.title }),
        description: found.beat || found.bio,
      }),
      avatar: portraitView(edition, found),
      rows: rows.map((row) => rowView(edition, row)),
      motif: motifOf(slug),
      feed_url: `${edition.site.base}/${path}`,
    };
    return [
      { path: `masthead/${slug}/index.html`, body: await render('/paper/persona', view) },
      { path, body: rss(channel, items, { path, list }) },
    ];
  },
};

/** The publishers that these pieces cite most. */
function mostCited(items: FeedItem[]): PersonaView['sources'] {
  const facts = Map.groupBy(
    items.flatMap(({ cited_facts }) => cited_facts),
    ({ source }) => source,
  );
  const sources = [...facts].map(([source, { length: citations }]) => ({ source, citations }));
  return sources.sort((a, b) => b.citations - a.citations || (a.source < b.source ? -1 : 1)).slice(0, SOURCES_MAX);
}

/** The drawn portrait of a persona; removed when the persona gets a picture of its own. */
export const portrait: Output = {
  kind: 'portrait',
  stage: 'assets',
  paths: /^portraits\/([^/]+)\.png$/,
  keysForDependency: keysAfter(dependencies.persona('')),
  allKeys: (edition) => edition.archive.personaSlugs(),
  async print(edition, slug, { pictures }) {
    const found = edition.persona(slug);
    if (found === null || found.avatar !== null) return null;
    const { hue, language } = edition.paper();
    // The path does not depend on the content, so the bytes must be compared.
    return [{ path: portraitPath(slug), body: await pictures.portrait({ slug, name: found.name, hue, language }) }];
  },
};
