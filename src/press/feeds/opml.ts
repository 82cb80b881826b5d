import { element, textElement, XML_DECLARATION } from './xml.ts';

/** A paper on the newsstand. */
export interface OpmlPaper {
  nameplate: string;
  description: string;
  language: string;
  /** Absolute, with its trailing slash. */
  url: string;
}

/** The papers of the newsstand and their feeds, for feed readers to import (OPML 2.0, opml.org/spec2.opml). */
export function opml(origin: string, papers: readonly OpmlPaper[]): string {
  const outlines = papers.map(({ nameplate, description, language, url }) =>
    element('outline', {
      type: 'rss',
      version: 'RSS2',
      text: nameplate,
      title: nameplate,
      description: description || null,
      language,
      xmlUrl: `${url}rss.xml`,
      htmlUrl: url,
    }),
  );
  const head = [
    textElement('title', 'Newsstand'),
    textElement('docs', 'http://opml.org/spec2.opml'),
    textElement('ownerId', `${origin}/`),
  ];
  return `${XML_DECLARATION}
<opml version="2.0">
<head>${head.join('')}</head>
<body>
${outlines.join('\n')}
</body>
</opml>
`;
}
