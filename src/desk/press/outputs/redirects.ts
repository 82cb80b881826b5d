import { phrasesOf } from '../../../phrases/tables.ts';
import { dependencies } from '../../dependencies.ts';
import { aliasFile } from '../../door/alias.ts';
import { storyUrl } from '../../story.ts';
import { noticeOf } from '../../withdrawal.ts';
import { element, escapeText } from '../feeds/xml.ts';
import { keysAfter, type Output, singleOutput } from '../output.ts';

const ofPiece = keysAfter(dependencies.piece(''));

/** A page at an earlier address that redirects to its piece, for hosts without redirects. The server sends a 301. */
export const alias: Output = {
  kind: 'alias',
  stage: 'story',
  // Matches no path: an earlier address can have any form, and a server that prints single files redirects by itself.
  paths: /(?!)/,
  keysForDependency: (dependency, edition) =>
    ofPiece(dependency).flatMap((id) => edition.archive.aliasesOf(id).filter((own) => edition.archive.redirect(own))),
  *allKeys({ archive }) {
    for (const { alias } of archive.redirects()) yield alias;
  },
  print(edition, key) {
    const slug = edition.archive.redirect(key);
    const story = slug === null ? null : edition.story(slug);
    if (story === null) return null;
    const url = storyUrl(edition.site.root, story.slug);
    const title = noticeOf(story)?.headline ?? phrasesOf(edition.paper().language).withdrawn.title;
    return [{ path: aliasFile(key), body: page(url, title, story.language) }];
  },
};

function page(url: string, title: string, language: string): string {
  const head = [
    '<meta charset="utf-8">',
    `<title>${escapeText(title)}</title>`,
    `<link rel="canonical" href="${escapeText(url)}">`,
    `<meta http-equiv="refresh" content="0; url=${escapeText(url)}">`,
  ];
  const link = element('a', { href: url }, escapeText(title));
  return `<!doctype html>\n<html lang="${escapeText(language)}">\n<head>${head.join('')}</head>\n<body><p>${link}</p></body>\n</html>\n`;
}

/** The redirects for Netlify and Cloudflare Pages, as 301. A paper without earlier addresses has no such file. */
const list = singleOutput('redirects', 'feed', (edition) => {
  const all = edition.redirects();
  if (all.length === 0) return null;
  const { base } = edition.site;
  const lines = all.flatMap(({ alias, slug }) => {
    const to = `${base}/stories/${slug}/`;
    const from = `${base}${encodeURI(alias)}`;
    return aliasFile(alias) === alias.slice(1) ? [`${from} ${to} 301`] : [`${from} ${to} 301`, `${from}/ ${to} 301`];
  });
  return [{ path: '_redirects', body: `${lines.join('\n')}\n` }];
});

export const redirects: Output = {
  ...list,
  keysForDependency: (dependency) => (dependency === dependencies.aliases ? [''] : []),
};
