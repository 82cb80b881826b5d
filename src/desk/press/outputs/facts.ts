import { fill } from '../../../phrases/fill.ts';
import { phrasesOf } from '../../../phrases/tables.ts';
import { correctedFacts } from '../../../proof/fact-document.ts';
import { dependencies, FACTS_PAGE, SHARD_MAX } from '../../dependencies.ts';
import { type FactRow, factUrl } from '../../fact.ts';
import { citingPiece } from '../../fact-rows.ts';
import { storyUrl } from '../../story.ts';
import type { Edition } from '../edition.ts';
import { sitemapShard } from '../feeds/sitemap.ts';
import { keysAfter, type Output } from '../output.ts';
import type { FactsView, RecordedFactView } from '../views.ts';
import { frameOf, instrumentHref } from './frame.ts';

/** Maximum number of citing pieces on the page of a fact, and of publishers on the page of sources. */
const PIECES_MAX = 200;
const SOURCES_MAX = 1_000;

/** Numbered pages have a folder of their own, because a claim key may be a number. */
const pageFolder = (page: number): string => `facts/all/${page}/`;

export const factShardPath = (shard: number): string => `sitemaps/facts-${shard}.xml`;

/** The page of a fact that a piece on air cites, and its document. */
export const fact: Output = {
  kind: 'fact',
  stage: 'list',
  paths: /^facts\/([a-z0-9-]+)(?:\/index\.html|\.json)$/,
  keysForDependency: keysAfter(dependencies.fact('')),
  *allKeys({ archive }) {
    const count = archive.factCount();
    for (let rank = 0; rank < count; rank += 1_000) {
      for (const { claim_key } of archive.factsFrom(rank, 1_000)) yield claim_key;
    }
  },
  async print(edition, key, { render }) {
    const found = edition.fact(key, PIECES_MAX);
    if (found === null) return null;
    const { fact: row, document, citing } = found;
    const trueTimes = new Map(correctedFacts(document).map(({ version, true_time }) => [version, true_time]));
    const { root, base } = edition.site;
    const t = phrasesOf(edition.paper().language).fact;
    const view = {
      frame: frameOf(edition, {
        path: `facts/${key}/`,
        title: row.statement,
        description: fill(t.about_one, { source: row.source }),
      }),
      ...factView(edition, row),
      ...{ quote: row.quote, status: row.status, note: row.note },
      versions: document.versions
        .toReversed()
        .map((one) => ({ ...one, signed_at: trueTimes.get(one.version) ?? one.signed_at })),
      pieces: citing.map(({ headline, slug, version }) => ({
        ...{ headline, url: storyUrl(base, slug), version, is_current: version === row.version },
      })),
      more: row.cited - citing.length,
      json_url: `${base}/facts/${key}.json`,
      facts_url: `${base}/facts/`,
    };
    const cited_by = citing.map((piece) => citingPiece(piece, root, row.version));
    const { slug: desk, nameplate } = edition.paper();
    const keys_url = `${root}/.well-known/newsdesk-keys.json`;
    const shown = { desk, nameplate, ...document, cited: row.cited, cited_by, keys_url };
    const body = `${JSON.stringify(shown, null, 2)}\n`;
    return [
      { path: `facts/${key}/index.html`, body: await render('/paper/fact', view) },
      { path: `facts/${key}.json`, body },
    ];
  },
};

/** The numbered pages of the record, starting with the oldest fact, so that a full page only changes with its facts. */
export const factPage: Output = {
  kind: 'facts-page',
  stage: 'list',
  paths: /^facts\/all\/(\d+)\/index\.html$/,
  keysForDependency: keysAfter('facts-page:'),
  *allKeys({ archive }) {
    for (let page = 1; page <= Math.ceil(archive.factCount() / FACTS_PAGE); page++) yield String(page);
  },
  async print(edition, key, { render }) {
    const page = Number(key);
    const found = edition.factPage(page);
    if (found === null) return null;
    const { base } = edition.site;
    const newer = found.isLast ? `${base}/facts/` : `${base}/${pageFolder(page + 1)}`;
    const older = page > 1 ? `${base}/${pageFolder(page - 1)}` : null;
    const view = { ...listView(edition, page, found.rows), newer_url: newer, older_url: older };
    return [{ path: `${pageFolder(page)}index.html`, body: await render('/paper/facts', view) }];
  },
};

/** The most recently recorded facts. A paper without a record has no such page. */
export const facts: Output = {
  kind: 'facts',
  stage: 'index',
  keysForDependency: (dependency) => (dependency === dependencies.facts ? [''] : []),
  allKeys: () => [''],
  async print(edition, _key, { render }) {
    const { count, rows } = edition.facts();
    if (count === 0) return null;
    // Older facts begin on the last numbered page that is not entirely shown here.
    const last = Math.ceil(count / FACTS_PAGE);
    const older = last > 1 ? `${edition.site.base}/${pageFolder(last - 1)}` : null;
    const view = { ...listView(edition, null, rows), older_url: older };
    return [{ path: 'facts/index.html', body: await render('/paper/facts', view) }];
  },
};

export const sources: Output = {
  kind: 'sources',
  stage: 'index',
  keysForDependency: (dependency) => (dependency === dependencies.facts ? [''] : []),
  allKeys: () => [''],
  async print(edition, _key, { render }) {
    const found = edition.factSources();
    if (found.length === 0) return null;
    const { nameplate, language } = edition.paper();
    const { story, fact } = phrasesOf(language);
    const description = fill(fact.sources_description, { paper: nameplate });
    const view = {
      frame: frameOf(edition, { path: 'sources/', title: story.sources_title, description }),
      sources: found.slice(0, SOURCES_MAX),
      more: Math.max(0, found.length - SOURCES_MAX),
      facts_url: `${edition.site.base}/facts/`,
    };
    return [{ path: 'sources/index.html', body: await render('/paper/sources', view) }];
  },
};

export const factsSitemap: Output = {
  kind: 'facts-sitemap',
  stage: 'feed',
  paths: /^sitemaps\/facts-(\d+)\.xml$/,
  keysForDependency: keysAfter('facts-shard:'),
  *allKeys({ archive }) {
    for (let shard = 1; shard <= Math.ceil(archive.factCount() / SHARD_MAX); shard++) yield String(shard);
  },
  print(edition, key) {
    const keys = edition.factShard(Number(key));
    if (keys.length === 0) return null;
    const urls = keys.map((claim_key) => ({ path: `facts/${claim_key}/` }));
    return [{ path: factShardPath(Number(key)), body: sitemapShard(edition.site.root, urls) }];
  },
};

function listView(edition: Edition, page: number | null, rows: readonly FactRow[]): FactsView {
  const { nameplate, language } = edition.paper();
  const { fact, section } = phrasesOf(language);
  const { base } = edition.site;
  return {
    frame: frameOf(edition, {
      path: page === null ? 'facts/' : pageFolder(page),
      title: page === null ? fact.title : fill(section.title, { section: fact.title, page }),
      description: fill(fact.description, { paper: nameplate }),
    }),
    page,
    rows: rows.map((row) => factView(edition, row)),
    newer_url: null,
    older_url: null,
    sources_url: `${base}/sources/`,
  };
}

function factView(
  { site: { base } }: Edition,
  { claim_key, statement, source, instrument, status, changed_at, cited }: FactRow,
): RecordedFactView {
  return {
    ...{ claim_key, statement, source, instrument, cited },
    url: factUrl(base, claim_key),
    href: instrumentHref(instrument),
    since: changed_at === null ? null : status === 'retracted' ? 'retracted' : 'corrected',
  };
}
