import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../../src/project.ts';
import type { Ran } from './child.ts';
import { run } from './child.ts';
import { COLOPHON, NAV, ROWS, writeMarkdown } from './markdown.ts';
import type { Bench } from './paper.ts';

const CONFIG = `import { defineConfig } from 'astro/config';
export default defineConfig({
  site: 'https://news.example',
  cacheDir: './cache',
  vite: { cacheDir: './cache/vite' },
  // Ours colours no code and changes no quotes either.
  markdown: { syntaxHighlight: false, smartypants: false },
});
`;

const COLLECTION = `import { defineCollection } from 'astro:content';
import { glob } from 'astro/loaders';
import { z } from 'astro/zod';
const fact = z.object({ n: z.number(), statement: z.string(), source: z.string(), instrument: z.string() });
export const collections = {
  pieces: defineCollection({
    loader: glob({ base: './pieces', pattern: '**/*.md' }),
    schema: z.object({
      title: z.string(), description: z.string(), section: z.string(), persona: z.string(),
      language: z.string(), date: z.coerce.date(), facts: z.array(fact),
    }),
  }),
};
`;

const LIBRARY = `import { getCollection } from 'astro:content';
export const slugOf = (section) => section.toLowerCase().replaceAll(' ', '-');
let sorted;
/** Newest first. */
export const pieces = () => (sorted ??= getCollection('pieces').then((all) => all.sort((a, b) => b.data.date - a.data.date)));
export async function sections() {
  return Map.groupBy(await pieces(), ({ data }) => data.section);
}
`;

const FRAME = `---
const { title, description, path, language = 'en' } = Astro.props;
const url = 'https://news.example' + path;
---
<!doctype html>
<html lang={language}>
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>{title} · The Bench Ledger</title>
    <meta name="description" content={description} />
    <link rel="canonical" href={url} />
    <link rel="stylesheet" href="/paper.css" />
    <link rel="alternate" type="application/rss+xml" title="The Bench Ledger" href="/rss.xml" />
    <meta property="og:site_name" content="The Bench Ledger" />
    <meta property="og:title" content={title} />
    <meta property="og:description" content={description} />
    <meta property="og:url" content={url} />
    <slot name="head" />
  </head>
  <body>
    <a class="skip" href="#matter">Skip to the text</a>
    <header class="top"><p class="name"><a href="/">The Bench Ledger</a></p><nav class="sections" aria-label="Sections"><ul>${NAV}</ul></nav></header>
    <main id="matter"><slot /></main>
    ${COLOPHON}
  </body>
</html>
`;

const ROW = `---
const { id, data } = Astro.props.piece;
---
<article class="row">
  <h3><a href={'/stories/' + id.split('/').at(-1) + '/'}>{data.title}</a></h3>
  {data.description && <p class="dek">{data.description}</p>}
  <p class="byline"><a href={'/masthead/' + data.persona + '/'}>{data.persona}</a> <time datetime={data.date.toISOString()}>{data.date.toISOString().slice(0, 10)}</time></p>
</article>
`;

const STORY = `---
import { render } from 'astro:content';
import Frame from '../../Frame.astro';
import Row from '../../Row.astro';
import { sections, slugOf } from '../../pieces.js';
export async function getStaticPaths() {
  const paths = [];
  for (const list of (await sections()).values()) {
    list.forEach((piece, at) => paths.push({ params: { slug: piece.id.split('/').at(-1) }, props: { piece, earlier: list.slice(at + 1, at + 4) } }));
  }
  return paths;
}
const { piece, earlier } = Astro.props;
const { data } = piece;
const { Content } = await render(piece);
const path = '/stories/' + Astro.params.slug + '/';
const section = '/sections/' + slugOf(data.section) + '/';
const when = data.date.toISOString();
const ld = JSON.stringify({
  '@context': 'https://schema.org', '@type': 'NewsArticle', headline: data.title, description: data.description,
  datePublished: when, articleSection: data.section, inLanguage: data.language, mainEntityOfPage: 'https://news.example' + path,
  author: { '@type': 'Person', name: data.persona, url: 'https://news.example/masthead/' + data.persona + '/' },
  citation: data.facts.map((fact) => ({ '@type': 'CreativeWork', name: fact.source, url: fact.instrument })),
}).replaceAll('<', '\\\\u003c');
---
<Frame title={data.title} description={data.description} path={path} language={data.language}>
  <Fragment slot="head">
    <meta property="article:published_time" content={when} />
    <meta property="article:section" content={data.section} />
    <script is:inline type="application/ld+json" set:html={ld} />
  </Fragment>
  <article class="story">
    <header class="heading">
      <p class="kicker"><a href={section}>{data.section}</a></p>
      <h1>{data.title}</h1>
      {data.description && <p class="dek">{data.description}</p>}
      <p class="who">By <a href={'/masthead/' + data.persona + '/'}>{data.persona}</a>, AI persona</p>
      <p class="when"><time datetime={when}>{when.slice(0, 10)}</time> <a href="#sources">{data.facts.length} sources</a></p>
    </header>
    <div class="prose"><Content /></div>
    <section class="sources" aria-labelledby="sources">
      <h2 id="sources">Sources</h2>
      <ol>{data.facts.map((fact) => <li id={'fact-' + fact.n} value={fact.n}>{fact.statement} <b>{fact.source}</b>, <a href={fact.instrument} rel="nofollow noopener">{fact.instrument}</a></li>)}</ol>
    </section>
  </article>
  <section class="earlier"><h2>Earlier in <a href={section}>{data.section}</a></h2>{earlier.map((row) => <Row piece={row} />)}</section>
</Frame>
`;

const SECTION = `---
import Frame from '../../../Frame.astro';
import Row from '../../../Row.astro';
import { sections, slugOf } from '../../../pieces.js';
export async function getStaticPaths({ paginate }) {
  return [...(await sections())].flatMap(([name, list]) => paginate(list, { params: { section: slugOf(name) }, props: { name }, pageSize: ${ROWS} }));
}
const { page, name } = Astro.props;
---
<Frame title={name} description={name + ', page ' + page.currentPage} path={page.url.current}>
  <h1>{name}</h1>
  {page.data.map((piece) => <Row piece={piece} />)}
  <nav>{page.url.prev && <a href={page.url.prev}>Newer</a>} {page.url.next && <a href={page.url.next}>Older</a>}</nav>
</Frame>
`;

const FRONT = `---
import Frame from '../Frame.astro';
import Row from '../Row.astro';
import { pieces } from '../pieces.js';
const newest = (await pieces()).slice(0, ${ROWS});
---
<Frame title="Front page" description="The newest pieces" path="/">{newest.map((piece) => <Row piece={piece} />)}</Frame>
`;

/** A static Astro site of the same pieces: a content collection of Markdown files, a page a piece, sections in pages. */
export function makeAstroSite(bench: Bench, count: number): string {
  const site = join(bench.folder, 'astro-site');
  mkdirSync(join(site, 'src/pages/stories'), { recursive: true });
  mkdirSync(join(site, 'src/pages/sections/[section]'), { recursive: true });
  symlinkSync(join(PROJECT, 'node_modules'), join(site, 'node_modules'));
  writeMarkdown(bench, count, join(site, 'pieces'));
  const files = {
    'package.json': '{"type":"module","private":true}',
    'astro.config.mjs': CONFIG,
    'src/content.config.ts': COLLECTION,
    'src/pieces.js': LIBRARY,
    'src/Frame.astro': FRAME,
    'src/Row.astro': ROW,
    'src/pages/index.astro': FRONT,
    'src/pages/stories/[slug].astro': STORY,
    'src/pages/sections/[section]/[...page].astro': SECTION,
  };
  for (const [path, text] of Object.entries(files)) writeFileSync(join(site, path), text);
  return site;
}

/** A whole `astro build`, nothing kept from before. */
export async function astroBuild(site: string): Promise<Ran> {
  for (const name of ['cache', 'dist', '.astro']) rmSync(join(site, name), { recursive: true, force: true });
  const astro = join(PROJECT, 'node_modules/astro/bin/astro.mjs');
  return run(process.execPath, [astro, 'build'], {
    cwd: site,
    env: { ASTRO_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' },
  });
}
