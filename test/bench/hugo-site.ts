import { existsSync, mkdirSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ran } from './child.ts';
import { found, run } from './child.ts';
import { COLOPHON, NAV, ROWS, writeMarkdown } from './markdown.ts';
import type { Bench } from './paper.ts';

const CONFIG = `baseURL = "https://news.example/"
title = "The Bench Ledger"
languageCode = "en"
paginate = ${ROWS}
rssLimit = 50
disableKinds = ["taxonomy", "term"]
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
    <title>{{ .Title }} · The Bench Ledger</title>
    <meta name="description" content="{{ .Description }}">
    <link rel="canonical" href="{{ .Permalink }}">
    <link rel="stylesheet" href="/paper.css">
    <link rel="alternate" type="application/rss+xml" title="The Bench Ledger" href="/index.xml">
    <meta property="og:site_name" content="The Bench Ledger">
    <meta property="og:title" content="{{ .Title }}">
    <meta property="og:description" content="{{ .Description }}">
    <meta property="og:url" content="{{ .Permalink }}">
    {{ block "head" . }}{{ end }}
  </head>
  <body>
    <a class="skip" href="#matter">Skip to the text</a>
    <header class="top"><p class="name"><a href="/">The Bench Ledger</a></p><nav class="sections" aria-label="Sections"><ul>${NAV}</ul></nav></header>
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
    <p class="when"><time datetime="{{ .Date.Format "2006-01-02T15:04:05Z07:00" }}">{{ .Date.Format "2006-01-02" }}</time> <a href="#sources">{{ len .Params.facts }} sources</a></p>
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

/** Whether Hugo is on the PATH. */
export const hasHugo = (): boolean => found('hugo') !== null;

/** A Hugo site of the same pieces: one template for a piece, lists of the sections. */
export function makeHugoSite(bench: Bench, count: number): string {
  const site = join(bench.folder, 'hugo-site');
  if (existsSync(site)) return site;
  writeMarkdown(bench, count, join(site, 'content'));
  mkdirSync(join(site, 'layouts/_default'), { recursive: true });
  mkdirSync(join(site, 'layouts/partials'));
  const files = {
    'config.toml': CONFIG,
    'layouts/_default/baseof.html': BASE,
    'layouts/_default/single.html': SINGLE,
    'layouts/_default/list.html': LIST,
    'layouts/index.html': FRONT,
    'layouts/partials/row.html': ROW,
  };
  for (const [path, text] of Object.entries(files)) writeFileSync(join(site, path), text);
  return site;
}

/** A whole `hugo`, into an empty folder. What it built before is put aside, not deleted just before it writes. */
export async function hugoBuild(site: string): Promise<Ran> {
  const built = join(site, 'public');
  if (existsSync(built)) renameSync(built, mkdtempSync(`${site}-`));
  return hugoRebuild(site);
}

/** `hugo` over what it built before: all that it has for a site where one piece changed. */
export function hugoRebuild(site: string): Promise<Ran> {
  return run('hugo', ['--quiet'], { cwd: site });
}
