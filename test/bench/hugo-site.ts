import { existsSync, mkdirSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sectionSlug } from '../../src/desk/papers/paper.ts';
import { type Ran, run } from './child.ts';
import type { Hugo } from './hugo.ts';
import { COLOPHON, NAV, ROWS, writeMarkdown } from './markdown.ts';
import type { Bench } from './paper.ts';
import { SECTIONS } from './pieces.ts';

/** Every kind of page that ours prints for readers: stories, sections, days, and feeds of the paper and of each section. */
const CONFIG = `baseURL = "https://news.example/"
title = "The Bench Ledger"
[pagination]
pagerSize = ${ROWS}
disableAliases = true
[taxonomies]
day = "days"
[permalinks.section]
${SECTIONS.map((name) => `"${sectionSlug(name)}" = "/sections/:section/"`).join('\n')}
[permalinks.page]
${SECTIONS.map((name) => `"${sectionSlug(name)}" = "/stories/:slug/"`).join('\n')}
[outputs]
home = ["html", "rss", "json"]
section = ["html", "rss"]
taxonomy = ["html"]
term = ["html"]
# Ours colours no code and changes no quotes either.
[markup.highlight]
codeFences = false
[markup.goldmark.extensions]
typographer = false
`;

const BASE = `<!doctype html>
<html lang="{{ with .Params.language }}{{ . }}{{ else }}en{{ end }}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>{{ .Title }} · {{ site.Title }}</title>
    <meta name="description" content="{{ .Description }}">
    <link rel="canonical" href="{{ .Permalink }}">
    <link rel="stylesheet" href="/paper.css">
    <link rel="alternate" type="application/rss+xml" title="{{ site.Title }}" href="/index.xml">
    <meta property="og:site_name" content="{{ site.Title }}">
    <meta property="og:title" content="{{ .Title }}">
    <meta property="og:description" content="{{ .Description }}">
    <meta property="og:url" content="{{ .Permalink }}">
    {{ block "head" . }}{{ end }}
  </head>
  <body>
    <a class="skip" href="#matter">Skip to the text</a>
    <header class="top"><p class="name"><a href="/">{{ site.Title }}</a></p><nav class="sections" aria-label="Sections"><ul>${NAV}</ul></nav></header>
    <main id="matter">{{ block "main" . }}{{ end }}</main>
    ${COLOPHON}
  </body>
</html>
`;

const ROW = `<article class="row">
  <h3><a href="{{ .RelPermalink }}">{{ .Title }}</a></h3>
  {{ with .Description }}<p class="dek">{{ . }}</p>{{ end }}
  <p class="byline"><a href="/masthead/{{ .Params.persona }}/">{{ .Params.persona }}</a> <time datetime="{{ .Date.Format "2006-01-02T15:04:05Z07:00" }}">{{ .Date.Format "2006-01-02" }}</time></p>
</article>
`;

const SINGLE = `{{ define "head" }}
    <meta property="article:published_time" content="{{ .Date.Format "2006-01-02T15:04:05Z07:00" }}">
    <meta property="article:section" content="{{ .Params.section }}">
    {{- $citation := slice -}}
    {{- range .Params.facts }}{{ $citation = $citation | append (dict "@type" "CreativeWork" "name" .source "url" .instrument) }}{{ end -}}
    {{- $author := dict "@type" "Person" "name" .Params.persona "url" (printf "https://news.example/masthead/%s/" .Params.persona) -}}
    <script type="application/ld+json">{{ dict "@context" "https://schema.org" "@type" "NewsArticle" "headline" .Title "description" .Description "datePublished" .Date "articleSection" .Params.section "inLanguage" .Params.language "mainEntityOfPage" .Permalink "author" $author "citation" $citation | jsonify | safeJS }}</script>
{{ end }}
{{ define "main" }}
<article class="story">
  <header class="heading">
    <p class="kicker"><a href="{{ .CurrentSection.RelPermalink }}">{{ .Params.section }}</a></p>
    <h1>{{ .Title }}</h1>
    {{ with .Description }}<p class="dek">{{ . }}</p>{{ end }}
    <p class="who">By <a href="/masthead/{{ .Params.persona }}/">{{ .Params.persona }}</a>, AI persona</p>
    <p class="when"><a href="/days/{{ .Date.Format "2006-01-02" }}/"><time datetime="{{ .Date.Format "2006-01-02T15:04:05Z07:00" }}">{{ .Date.Format "2006-01-02" }}</time></a> <a href="#sources">{{ len .Params.facts }} sources</a></p>
  </header>
  <div class="prose">{{ .Content }}</div>
  <section class="sources" aria-labelledby="sources">
    <h2 id="sources">Sources</h2>
    <ol>{{ range .Params.facts }}<li id="fact-{{ .n }}" value="{{ .n }}">{{ .statement }} <b>{{ .source }}</b>, <a href="{{ .instrument }}" rel="nofollow noopener">{{ .instrument }}</a></li>{{ end }}</ol>
  </section>
</article>
<section class="earlier"><h2>Earlier in <a href="{{ .CurrentSection.RelPermalink }}">{{ .Params.section }}</a></h2>
{{ with .PrevInSection }}{{ partial "row.html" . }}{{ with .PrevInSection }}{{ partial "row.html" . }}{{ with .PrevInSection }}{{ partial "row.html" . }}{{ end }}{{ end }}{{ end }}</section>
{{ end }}
`;

const LIST = `{{ define "main" }}
<h1>{{ .Title }}</h1>
{{ $pages := .Paginate .RegularPages.ByDate.Reverse }}
{{ range $pages.Pages }}{{ partial "row.html" . }}{{ end }}
<nav>{{ if $pages.HasPrev }}<a href="{{ $pages.Prev.URL }}">Newer</a>{{ end }} {{ if $pages.HasNext }}<a href="{{ $pages.Next.URL }}">Older</a>{{ end }}</nav>
{{ end }}
`;

const FRONT = `{{ define "main" }}{{ range first ${ROWS} site.RegularPages.ByDate.Reverse }}{{ partial "row.html" . }}{{ end }}{{ end }}
`;

const DAY = `{{ define "main" }}<h1>{{ .Title }}</h1>{{ range .Pages.ByDate.Reverse }}{{ partial "row.html" . }}{{ end }}{{ end }}
`;

const DAYS = `{{ define "main" }}<h1>Back issues</h1><ol>{{ range .Data.Terms.Alphabetical.Reverse }}<li><a href="{{ .Page.RelPermalink }}">{{ .Page.Title }}</a> {{ .Count }}</li>{{ end }}</ol>{{ end }}
`;

/** As many items as ours has in the feed of the paper and of a section, with the whole text. */
const [PAPER_ITEMS, SECTION_ITEMS] = [50, 30];

const RSS = `{{ print "<?xml version='1.0' encoding='utf-8'?>" | safeHTML }}
<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:atom="http://www.w3.org/2005/Atom">
<channel><title>{{ .Title }}</title><link>{{ .Permalink }}</link><description>{{ site.Title }}. Every byline is a declared AI persona.</description><language>en</language>
{{ with .OutputFormats.Get "rss" }}<atom:link href="{{ .Permalink }}" rel="self" type="application/rss+xml"/>{{ end }}
{{ range first (cond .IsHome ${PAPER_ITEMS} ${SECTION_ITEMS}) (cond .IsHome site.RegularPages .RegularPages).ByDate.Reverse }}<item><title>{{ .Title }}</title><link>{{ .Permalink }}</link><guid>{{ .Permalink }}</guid><pubDate>{{ .Date.Format "Mon, 02 Jan 2006 15:04:05 -0700" }}</pubDate><dc:creator>{{ .Params.persona }}</dc:creator><category>{{ .Params.section }}</category><description>{{ .Description }}</description><content:encoded>{{ printf "<![CDATA[%s]]>" .Content | safeHTML }}</content:encoded></item>
{{ end }}</channel></rss>
`;

const JSON_FEED = `{{ $items := slice }}{{ range first ${PAPER_ITEMS} site.RegularPages.ByDate.Reverse }}{{ $items = $items | append (dict "id" .Permalink "url" .Permalink "title" .Title "summary" .Description "content_html" .Content "date_published" .Date "tags" (slice .Params.section) "authors" (slice (dict "name" .Params.persona))) }}{{ end }}{{ dict "version" "https://jsonfeed.org/version/1.1" "title" site.Title "home_page_url" .Permalink "items" $items | jsonify }}
`;

/** A Hugo site of the same pieces in a folder: the kinds of pages and feeds that ours prints. */
export function makeHugoSite(bench: Bench, count: number, folder = bench.folder): string {
  const site = join(folder, 'hugo-site');
  if (existsSync(site)) return site;
  writeMarkdown(bench, count, join(site, 'content'));
  mkdirSync(join(site, 'layouts/_default'), { recursive: true });
  mkdirSync(join(site, 'layouts/partials'));
  const files = {
    'hugo.toml': CONFIG,
    'layouts/_default/baseof.html': BASE,
    'layouts/_default/single.html': SINGLE,
    'layouts/_default/list.html': LIST,
    'layouts/_default/term.html': DAY,
    'layouts/_default/terms.html': DAYS,
    'layouts/_default/rss.xml': RSS,
    'layouts/index.html': FRONT,
    'layouts/index.json': JSON_FEED,
    'layouts/partials/row.html': ROW,
  };
  for (const [path, text] of Object.entries(files)) writeFileSync(join(site, path), text);
  return site;
}

/** A whole `hugo`, into an empty folder. What it built before is put aside, not deleted just before it writes. */
export async function hugoBuild(hugo: Hugo, site: string): Promise<Ran> {
  const built = join(site, 'public');
  if (existsSync(built)) renameSync(built, mkdtempSync(`${site}-`));
  return hugoRebuild(hugo, site);
}

/** `hugo` over what it built before: all that it has for a site where something changed. */
export function hugoRebuild({ program }: Hugo, site: string): Promise<Ran> {
  return run(program, [], { cwd: site });
}

/** Gives the site another title, which stands on every page. */
export function renameHugoSite(site: string, title: string): void {
  writeFileSync(join(site, 'hugo.toml'), CONFIG.replace('The Bench Ledger', title));
}
