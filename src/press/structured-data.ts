import type { Story } from '../desk/archive.ts';
import { contactMail, sectionSlug } from '../desk/paper.ts';
import { storyUrl } from '../desk/story.ts';
import type { CitedFact } from '../ledger/piece.ts';
import { phrasesOf } from '../phrases/tables.ts';
import type { Channel } from './feeds/channel.ts';
import { channelDescription, webAddress } from './feeds/channel.ts';
import { isoTime } from './times.ts';

/** What a story's JSON-LD needs besides the story itself. */
export interface StoryFacts {
  /** Absolute: the piece's own art, or its share card. */
  image: string;
  /** Absolute address of the persona's portrait. */
  avatar: string;
  word_count: number;
}

const CONTEXT = 'https://schema.org';

/** The schema.org type for media created by a trained model (IPTC digital source type). */
const MADE_BY_MODEL = 'https://schema.org/TrainedAlgorithmicMediaDigitalSource';

/**
 * JSON-LD of a story: a schema.org `NewsArticle` whose author is an `Organization` named as an AI persona, never a
 * `Person`; but what people wrote has them as its authors, and the persona as a contributor. Like all documents of this
 * file, it is safe inside a script element.
 */
export function storyJsonLd(channel: Channel, story: Story, facts: StoryFacts): string {
  const { root } = channel;
  const url = storyUrl(root, story.slug);
  const persona = {
    '@type': 'Organization',
    name: `${story.byline.name} (${phrasesOf(channel.paper.language).byline.persona})`,
    description: given(story.byline.title),
    url: `${root}/masthead/${story.persona}/`,
    logo: facts.avatar,
  };
  const isByPeople = story.writers.length > 0;
  return script({
    '@type': 'NewsArticle',
    '@id': `${url}#article`,
    url,
    mainEntityOfPage: {
      '@type': 'WebPage',
      '@id': url,
      breadcrumb: breadcrumbs([
        { name: channel.paper.nameplate, url: `${root}/` },
        { name: story.category, url: `${root}/sections/${sectionSlug(story.category)}/` },
        { name: story.headline, url },
      ]),
    },
    headline: story.headline,
    description: given(story.dek),
    genre: story.kind === 'blog' ? 'Blog' : undefined,
    articleSection: story.category,
    keywords: given(story.tags),
    inLanguage: story.language,
    wordCount: facts.word_count,
    datePublished: iso(story.published_at),
    dateModified: iso(story.updated_at),
    image: imageOf(story, facts.image),
    author: isByPeople ? story.writers.map(({ name, url }) => ({ '@type': 'Person', name, url })) : persona,
    digitalSourceType: isByPeople ? undefined : MADE_BY_MODEL,
    contributor: isByPeople ? persona : undefined,
    publisher: publisher(channel),
    isPartOf: { '@type': 'WebSite', '@id': `${root}/#website`, name: channel.paper.nameplate, url: `${root}/` },
    isAccessibleForFree: true,
    citation: given(citations(story.cited_facts)),
    correction: given(
      story.corrections.map(({ at, note }) => ({
        '@type': 'CorrectionComment',
        datePublished: iso(at),
        text: note,
      })),
    ),
    creditText: story.credit ?? undefined,
    version: story.revision,
    identifier: { '@type': 'PropertyValue', propertyID: 'content_hash', value: story.content_hash },
  });
}

/** A mail address, or the page where readers can write to the paper. */
function contactPoint(paper: Channel['paper']): object {
  const email = contactMail(paper);
  if (email !== undefined) return { email };
  return paper.contact === undefined ? {} : { contactPoint: { '@type': 'ContactPoint', url: paper.contact } };
}

/** JSON-LD of the front page: the paper as a `NewsMediaOrganization`, and its `WebSite` with its search. */
export function frontJsonLd(channel: Channel): string {
  const { paper, root } = channel;
  return script({
    '@graph': [
      {
        ...publisher(channel),
        description: channelDescription(channel),
        ...(paper.motto === '' ? {} : { slogan: paper.motto }),
        publishingPrinciples: `${root}/standards/`,
        correctionsPolicy: `${root}/corrections/`,
        verificationFactCheckingPolicy: `${root}/standards/`,
        masthead: `${root}/masthead/`,
        ...contactPoint(paper),
      },
      {
        '@type': 'WebSite',
        '@id': `${root}/#website`,
        name: paper.nameplate,
        url: `${root}/`,
        inLanguage: paper.language,
        publisher: { '@id': `${root}/#publisher` },
        potentialAction: {
          '@type': 'SearchAction',
          target: { '@type': 'EntryPoint', urlTemplate: `${root}/search/?q={search_term_string}` },
          'query-input': 'required name=search_term_string',
        },
      },
    ],
  });
}

/** JSON-LD of the path to a page: a `BreadcrumbList` from the front page on, with absolute addresses. */
export function breadcrumbsJsonLd(trail: readonly { name: string; url: string }[]): string {
  return script(breadcrumbs(trail));
}

function breadcrumbs(trail: readonly { name: string; url: string }[]) {
  return {
    '@type': 'BreadcrumbList',
    itemListElement: trail.map(({ name, url }, index) => ({
      '@type': 'ListItem',
      position: index + 1,
      name,
      item: url,
    })),
  };
}

function publisher({ paper, root }: Channel) {
  return { '@type': 'NewsMediaOrganization', '@id': `${root}/#publisher`, name: paper.nameplate, url: `${root}/` };
}

function imageOf(story: Story, url: string) {
  if (story.image === null) return url;
  const { alt, credit } = story.image;
  return {
    '@type': 'ImageObject',
    url,
    caption: given(alt),
    creditText: credit ?? undefined,
  };
}

/** Each document once, however many facts cite it. */
function citations(facts: readonly CitedFact[]) {
  const documents = new Map(
    facts.map(({ source, instrument }) => [`${source}\n${instrument}`, { source, instrument }]),
  );
  return [...documents.values()].map(({ source, instrument }) => ({
    '@type': 'CreativeWork',
    name: instrument,
    publisher: { '@type': 'Organization', name: source },
    url: webAddress(instrument) ?? undefined,
  }));
}

/** Undefined for an empty text or list: JSON leaves such a member out, and all stories have objects of one shape. */
function given<T extends string | readonly unknown[]>(value: T): T | undefined {
  return value.length === 0 ? undefined : value;
}

function iso(ms: number): string {
  return isoTime(ms);
}

const UNSAFE: Record<string, string> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/** Serializes a document as JSON that can neither end a script element nor open a comment in it. */
function script(body: object): string {
  return `{"@context":"${CONTEXT}",${JSON.stringify(body).slice(1)}`.replace(
    /[<>&\u2028\u2029]/g,
    (character) => UNSAFE[character] ?? character,
  );
}
