import { readFileSync } from 'node:fs';
import { fill } from '../../phrases/fill.ts';
import samples from './sample-texts.json' with { type: 'json' };

type Texts = typeof samples.en;

/** The sample texts of a new paper, by language. */
const SAMPLES: Readonly<Record<string, Texts>> = samples;

/** The texts for a language tag. `isEnglish` means that there are none in that language. */
export function sampleTexts(language: string): { texts: Texts; isEnglish: boolean } {
  const texts = SAMPLES[language.split('-')[0]?.toLowerCase() ?? ''];
  return { texts: texts ?? samples.en, isEnglish: texts === undefined };
}

/** A text as YAML: JSON strings are. */
export const quoted = (text: string): string => JSON.stringify(text);

const FACTS = {
  rfc: ['RFC Editor', 'https://www.rfc-editor.org/rfc/rfc3339'],
  iso: ['ISO', 'https://www.iso.org/iso-8601-date-and-time-format.html'],
  alt: ['W3C', 'https://www.w3.org/TR/WCAG22/#non-text-content'],
  png: ['RFC Editor', 'https://www.rfc-editor.org/rfc/rfc2083'],
} as const;

interface Piece {
  headline: string;
  dek: string;
  category: string | undefined;
  kind?: 'blog';
  image?: { name: string; alt: string };
  facts: (keyof typeof FACTS)[];
  story: string;
}

/** The pieces of a new paper, all drafts that the door would accept on air, and their pictures: contents by path. */
export function samplePieces(
  { sections, language }: { sections: string[]; language: string },
  persona: string,
): [path: string, text: string][] {
  const { texts, isEnglish } = sampleTexts(language);
  const { check, note, picture } = texts;
  const figure = `![${picture.alt}](media/window.svg "${picture.caption}")`;
  const pieces: Record<string, Piece> = {
    'how-to-write-a-day': {
      headline: texts.headline,
      dek: texts.dek,
      category: sections[0],
      image: { name: 'day', alt: texts.dayAlt },
      facts: ['rfc', 'iso'],
      story: texts.story,
    },
    'three-questions': {
      ...check,
      category: sections[0],
      image: { name: 'check', alt: check.alt },
      facts: ['iso', 'alt'],
    },
    'from-the-desk': { ...note, category: sections.at(-1), kind: 'blog', facts: ['iso', 'rfc'] },
    'a-picture-and-its-words': {
      ...picture,
      category: sections.at(-1),
      facts: ['alt', 'png'],
      story: fill(picture.story, { picture: figure }),
    },
  };
  const text = ({ headline, dek, category = '', kind, image, facts, story }: Piece) => `---
headline: ${quoted(headline)}
dek: ${quoted(dek)}
category: ${quoted(category)}
${kind === undefined ? '' : `kind: ${kind}\n`}byline: ${persona}
${isEnglish ? 'language: en\n' : ''}# false keeps the piece a draft. Remove the line to put it on air when it is filed, or write a time to schedule it.
air: false
${image === undefined ? '' : `image: { src: media/${image.name}.svg, alt: ${quoted(image.alt)}, credit: Broadsheet }\n`}# tags: [Dates, Standards]
cited_facts:
${facts
  .map(
    (fact) => `  - statement: ${quoted(texts[fact])}
    source: ${FACTS[fact][0]}
    instrument: ${FACTS[fact][1]}`,
  )
  .join('\n')}
---

${story}
`;
  return [
    ...Object.entries(pieces).map(([slug, piece]): [string, string] => [`stories/${slug}.md`, text(piece)]),
    ...['day', 'check', 'window'].map((name): [string, string] => [
      `media/${name}.svg`,
      readFileSync(new URL(`samples/${name}.svg`, import.meta.url), 'utf8'),
    ]),
  ];
}
