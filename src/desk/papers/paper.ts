import * as z from 'zod';
import { sha256 } from '../../proof/basis.ts';
import { normalized } from '../../shared/combining-marks.ts';
import { isLine } from '../../shared/shown-text.ts';
import { isLanguageTag } from '../door/door.ts';
import { KINDS, SOURCE_FLOOR_MIN } from '../door/piece.ts';
import { asciiWords } from '../door/tag.ts';
import { filledLine, line } from '../line.ts';
import { THEMES } from './themes.ts';
import { TYPEFACE_NAMES } from './typefaces.ts';

/** Whether a text names a time zone. Offsets such as +02:00 are rejected, because they have no daylight saving time. */
export function isTimeZone(text: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return /^[a-z]/i.test(text);
  } catch {
    return false;
  }
}

const PLAIN_HOST = 'must name a host of letters, digits, dots and hyphens';

/**
 * Whether the host of an address consists of letters, digits, dots and hyphens, or is an IP address. URLs also allow
 * characters that have a meaning in the pages' Content-Security-Policy: star, semicolon, comma, quote.
 */
function hasPlainHost(url: string): boolean {
  return URL.canParse(url) && /^(?:[\w.-]+|\[[\da-f:.]+\])$/.test(new URL(url).hostname);
}

/** The address of the transparency log on the shared host. */
export const LOG_SLUG = 'log';

/** Slugs that a paper cannot have, because the shared host uses them. */
const RESERVED_SLUGS = new Set(['api', 'assets', 'docs', 'health', 'ready', 'oembed', 'embed', 'newsstand', LOG_SLUG]);

/** Maximum length of a paper's address, in characters. */
const URL_MAX = 2_048;

/** Maximum length of an imprint that is not a page, in characters. */
const IMPRINT_MAX = 1_000;

/** Maximum number of sections, and maximum length of a section's name, in characters. */
export const SECTIONS_MAX = 40;
export const SECTION_MAX = 60;

/** The optional blocks of a front, below the top news. */
export const FRONT_BLOCKS = ['sections', 'cast', 'subscribe', 'blog', 'corrections', 'masthead'] as const;
export type FrontBlockName = (typeof FRONT_BLOCKS)[number];

/** The sections or personas whose pieces need a review. */
function reviewed(what: string) {
  return z.array(filledLine(SECTION_MAX)).min(1, `must name a ${what}, or be left out`).max(SECTIONS_MAX).optional();
}

/** A paper's record: `paper.yaml`, or the body of `PUT /api/v1/config`. */
export const PaperBody = z.strictObject({
  nameplate: filledLine(80),
  motto: line(200).default(''),
  description: line(500).default(''),
  /** BCP 47 tag for pieces that do not set one. */
  language: z
    .string()
    .refine(isLanguageTag, 'must be a language tag as in BCP 47, such as en, pt-BR or ja')
    .default('en'),
  /** The paper's color, an angle on the OKLCH wheel. */
  hue: z.int().min(0).max(359).default(28),
  /** In display order. */
  sections: z
    .array(filledLine(SECTION_MAX, 'must be a text, as in [News, Weather]'), {
      error: 'must be a list of texts, as in [News, Weather]',
    })
    .min(1)
    .max(SECTIONS_MAX)
    .refine(
      (names) => new Set(names.map(sectionSlug)).size === names.length,
      'two sections would have the same address; rename one',
    ),
  default_kind: z.enum(KINDS).default('news'),
  paper_public: z.boolean().default(true),
  /** Minimum number of distinct publishers for a piece on air. */
  source_floor: z.int().min(SOURCE_FLOOR_MIN).default(SOURCE_FLOOR_MIN),
  /** The root address, for a paper with its own domain; else the paper is a path on the shared host. */
  url: z
    .string()
    // Longer addresses skip the remaining checks.
    .max(URL_MAX, { abort: true })
    .check(z.url({ protocol: /^https?$/, abort: true }))
    .refine(hasPlainHost, PLAIN_HOST)
    .refine((url) => !/[?#@]/.test(url), 'must be an address without a query, a fragment or a user name')
    .transform((url) => url.replace(/\/+$/, ''))
    .optional(),
  /** Mail address for readers and security researchers, or the https address of a page with a contact form. */
  contact: z
    .union([z.email(), z.url({ protocol: /^https$/ }).regex(/^[\x21-\x7e]+$/)], {
      error: 'must be a mail address, or an https address where readers can write to you',
    })
    .optional(),
  /**
   * Who is responsible for the paper, for the footer of every page: a text, or `pages/<slug>.md` for a link to that
   * page. Some countries require it.
   */
  imprint: z
    .string()
    .max(IMPRINT_MAX)
    .refine((text) => text.split('\n').every(isLine), 'must be text without control characters')
    .transform((text) => normalized(text).trim())
    .refine((text) => text !== '', 'must not be empty')
    .optional(),
  /** The hour at which daily and weekly mails go out, in the given time zone; 07:00 UTC by default. */
  alerts: z
    .strictObject({
      hour: z.int().min(0).max(23).default(7),
      time_zone: z
        .string()
        .refine(isTimeZone, 'must be a name of the IANA time zone database, such as Europe/Berlin')
        .default('UTC'),
    })
    .optional(),
  /** An SVG among the paper's media that replaces the nameplate, and optionally another for dark mode. */
  logo: z.union([z.string(), z.strictObject({ light: z.string(), dark: z.string() })]).optional(),
  /** An SVG or PNG among the paper's media from which its icons are made. */
  icon: z.string().optional(),
  /** A stylesheet among the paper's media, applied after those of Broadsheet. */
  style: z.string().optional(),
  /** Address of the only script from another host that pages load. */
  analytics: z
    .string()
    .max(URL_MAX, { abort: true })
    .check(z.url({ protocol: /^https$/, error: 'must be the https address of a script' }))
    .refine(hasPlainHost, PLAIN_HOST)
    .refine((url) => !/[#@]/.test(url), 'must be an address without a fragment or a user name')
    .optional(),
  theme: z.enum(THEMES).optional().meta({
    description:
      'How the pages are laid out: `broadsheet` in columns (the default), `magazine` a cover and cards, `wire` by day and clock.',
  }),
  /** One of the typeface pairs that come with Broadsheet. */
  typefaces: z.enum(TYPEFACE_NAMES).optional(),
  link_cards: z.boolean().optional().meta({
    description: 'Whether bare links on lines of their own become cards, once the server has read the pages at them.',
  }),
  subscribe_box: z.literal('end', { error: 'must be end, or left out' }).optional().meta({
    description: 'The subscribe form: at the end of every piece that has none in its text, and on the front.',
  }),
  /**
   * Which pieces by agents a person must approve before they go on air: all, or those of these sections or personas.
   */
  review: z
    .union(
      [
        z.literal('required'),
        z.strictObject({
          sections: reviewed('section'),
          personas: reviewed('persona'),
          /** Whether readers see who approved a piece, and when. */
          shown: z.boolean().default(false),
        }),
      ],
      { error: 'must be required, or say sections, personas and shown, as in {sections: [News], shown: true}' },
    )
    .optional(),
  /** Whether the server reads the sources that pieces cite, and the consequences of what it finds. */
  sources: z
    .strictObject(
      {
        read: z.boolean(),
        quote_not_found: z.enum(['refuse', 'warn'], { error: 'must be refuse or warn' }).default('warn').meta({
          description: '`refuse`: no piece goes on air until its quotes were found in its sources.',
        }),
        personas: reviewed('persona').meta({ description: 'Of whose pieces; without it, of everybody’s.' }),
        republish: z.boolean().default(false).meta({
          description: 'Whether readers may see the text that was read. Ask the owner of the rights first.',
        }),
      },
      { error: 'must say read, as in {read: true, quote_not_found: refuse}' },
    )
    .optional(),
  /** The desk's working methods, in Markdown, for the standards page. */
  standards: z.string().max(20_000).default(''),
  /** The blocks of the front below the top news, in this order; omitted blocks are not shown. */
  front: z
    .strictObject({
      blocks: z
        .array(z.enum(FRONT_BLOCKS), { error: `must be a list, as in [${FRONT_BLOCKS.join(', ')}]` })
        .refine((names) => new Set(names).size === names.length, 'names a block twice; name each once'),
    })
    .optional(),
});
export type PaperBody = z.infer<typeof PaperBody>;

/** A paper's record with its slug: what most of the paper's pages and files need. */
export interface PaperRecord extends PaperBody {
  slug: string;
}

/** The mail address of a paper's contact; undefined if it has none or names a page instead. */
export function contactMail({ contact }: Pick<PaperBody, 'contact'>): string | undefined {
  return contact?.startsWith('https://') ? undefined : contact;
}

/** The address of a paper's contact, as a link; undefined without a contact. */
export function contactUrl({ contact }: Pick<PaperBody, 'contact'>): string | undefined {
  const mail = contactMail({ contact });
  return mail === undefined ? contact : `mailto:${mail}`;
}

/** The page that a paper's imprint names; null if the imprint is a text or missing. */
export function imprintPage({ imprint }: Pick<PaperBody, 'imprint'>): string | null {
  return /^pages\/([a-z0-9-]+)\.md$/.exec(imprint ?? '')?.[1] ?? null;
}

/** A paper in its current state. */
export interface Paper extends PaperRecord {
  /** Increases by one with every change that a reader can see. */
  edition: number;
  /** Time of the last such change, in ms. */
  changed_at: number;
}

/** Maximum length of a paper's slug. */
export const PAPER_SLUG_MAX = 60;

/** Whether a text can be a paper's slug, the first path segment on the shared host. */
export function isPaperSlug(text: string): boolean {
  return /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(text) && text.length <= PAPER_SLUG_MAX && !RESERVED_SLUGS.has(text);
}

/** The paper's root address, without a trailing slash. */
export function paperRoot(paper: { slug: string; url?: string | undefined }, origin: string): string {
  return paper.url ?? `${origin}/${paper.slug}`;
}

/**
 * Maximum length of a section's slug. File systems allow names of 255 bytes, and a character may become six letters.
 */
const SECTION_SLUG_MAX = 200;

/** A section's slug: its name in ASCII words, or a stable substitute if there are none or too many. */
export function sectionSlug(name: string): string {
  const words = asciiWords(name).join('-');
  return words !== '' && words.length <= SECTION_SLUG_MAX ? words : `section-${sha256(name).slice(7, 15)}`;
}
