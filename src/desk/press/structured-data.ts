import { fill } from '../../phrases/fill.ts';
import { phrasesOf } from '../../phrases/tables.ts';
import type { CitedFact } from '../../proof/basis.ts';
import { isoDuration, isoTime } from '../../proof/time.ts';
import type { Story } from '../archive.ts';
import { type Cast, castFile } from '../papers/cast.ts';
import { contactMail, sectionSlug } from '../papers/paper.ts';
import { storyUrl } from '../story.ts';
import { type Channel, channelDescription, disclosure, fileUrl, webAddress } from './feeds/channel.ts';

/** The picture that represents a paper: its logo, else its icon. */
export interface Logo {
  /** Absolute address. */
  url: string;
  width: number;
  height: number;
}

export interface StoryFacts {
  /** Absolute address of the piece's own art, or of its share card. */
  image: string;
  /** Absolute address of the persona's portrait. */
  avatar: string;
  word_count: number;
  logo: Logo;
}

const CONTEXT = 'https://schema.org';

/** The schema.org type for media created by a trained model (IPTC digital source type). */
const MADE_BY_MODEL = 'https://schema.org/TrainedAlgorithmicMediaDigitalSource';

/**
 * JSON-LD of a story: a schema.org `NewsArticle` whose author is an `Organization` named as an AI persona, never a
 * `Person`. If people wrote the piece, they are its authors and the persona is a contributor. Like all documents of
 * this file, it is safe inside a script element.
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
    datePublished: isoTime(story.published_at),
    dateModified: isoTime(story.updated_at),
    image: imageOf(story, facts.image),
    author: isByPeople ? story.writers.map(({ name, url }) => ({ '@type': 'Person', name, url })) : persona,
    digitalSourceType: isByPeople || story.provenance === 'archive' ? undefined : MADE_BY_MODEL,
    // schema.org has no member for the origin of a piece; this one allows a publisher's own wording.
    creativeWorkStatus: story.provenance === 'archive' ? phrasesOf(channel.paper.language).story.archive : undefined,
    contributor: isByPeople ? persona : undefined,
    publisher: publisher(channel, facts.logo),
    isPartOf: { '@type': 'WebSite', '@id': `${root}/#website`, name: channel.paper.nameplate, url: `${root}/` },
    isAccessibleForFree: true,
    citation: given(citations(story.cited_facts)),
    correction: given(
      story.corrections.map(({ at, note }) => ({
        '@type': 'CorrectionComment',
        datePublished: isoTime(at),
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

export function frontJsonLd(channel: Channel, logo: Logo): string {
  const { paper, root } = channel;
  return script({
    '@graph': [
      {
        ...publisher(channel, logo),
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

interface CastFacts {
  /** Dimensions of the video, in pixels. */
  size: { width: number | null; height: number | null } | null;
  /** Absolute address of the poster, or of the podcast's cover. */
  image: string;
  logo: Logo;
}

/**
 * JSON-LD of an edition's page: a `VideoObject`, or a `PodcastEpisode` with its `AudioObject`, dated by its day at
 * midnight UTC as in the podcast.
 */
export function castJsonLd(channel: Channel, cast: Cast, { size, image, logo }: CastFacts): string {
  const { paper, root } = channel;
  const url = `${root}/cast/${cast.day}/`;
  const duration = isoDuration(cast.duration_s);
  const date = `${cast.day}T00:00:00.000Z`;
  const named = {
    url,
    name: cast.title,
    // Search engines require a description; an edition may lack one.
    description: cast.description.trim() || `${cast.title}. ${disclosure(channel)}`,
  };
  const file = {
    contentUrl: fileUrl(root, castFile(cast)),
    embedUrl: `${url}embed/`,
    encodingFormat: cast.media_type,
    contentSize: String(cast.bytes),
  };
  const made = {
    inLanguage: paper.language,
    isAccessibleForFree: true,
    creator: {
      '@type': 'Organization',
      name: fill(phrasesOf(paper.language).byline.declared_all, { paper: paper.nameplate }),
      url: `${root}/masthead/`,
    },
    publisher: publisher(channel, logo),
  };
  if (cast.audio !== undefined) {
    return script({
      '@type': 'PodcastEpisode',
      '@id': `${url}#episode`,
      ...named,
      image,
      datePublished: date,
      timeRequired: duration,
      associatedMedia: { '@type': 'AudioObject', name: cast.title, uploadDate: date, duration, ...file },
      partOfSeries: {
        '@type': 'PodcastSeries',
        '@id': `${root}/cast/#podcast`,
        name: paper.nameplate,
        url: `${root}/cast/`,
        webFeed: `${root}/podcast.xml`,
      },
      ...made,
    });
  }
  return script({
    '@type': 'VideoObject',
    '@id': `${url}#video`,
    ...named,
    thumbnailUrl: image,
    uploadDate: date,
    duration,
    ...file,
    width: size?.width ?? undefined,
    height: size?.height ?? undefined,
    ...made,
  });
}

/** The path to a page, starting at the front page, with absolute addresses. */
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

function publisher({ paper, root }: Channel, { url, width, height }: Logo) {
  return {
    '@type': 'NewsMediaOrganization',
    '@id': `${root}/#publisher`,
    name: paper.nameplate,
    url: `${root}/`,
    logo: { '@type': 'ImageObject', url, width, height },
  };
}

function imageOf(story: Story, url: string) {
  if (story.image === null) return url;
  const { alt, credit } = story.image;
  return { '@type': 'ImageObject', url, caption: given(alt), creditText: credit ?? undefined };
}

/** The cited documents, each once, however many facts cite it. */
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

/** Undefined for an empty text or list, which JSON then omits. All stories thus have objects of the same shape. */
function given<T extends string | readonly unknown[]>(value: T): T | undefined {
  return value.length === 0 ? undefined : value;
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
