import * as z from 'zod';
import { sha256 } from '../ledger/basis.ts';
import { isLanguageTag, isLine } from '../ledger/door.ts';
import { normalized } from '../ledger/marks.ts';
import { KINDS, SOURCE_FLOOR_MIN } from '../ledger/piece.ts';
import { asciiWords } from './slug.ts';

/** `kind` says what is wanted instead of another type. */
const line = (max: number, kind = 'must be a text') =>
  z
    .string({ error: kind })
    .max(max)
    .refine(isLine, 'must be one line without control characters')
    .transform((text) => normalized(text).trim());

/** Whether a text names a time zone; an offset such as +02:00 does not, because it has no daylight saving time. */
function isTimeZone(text: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return /^[a-z]/i.test(text);
  } catch {
    return false;
  }
}

/** Slugs that a paper cannot have, because the shared host uses them. */
const RESERVED_SLUGS = new Set(['api', 'assets', 'docs', 'health', 'oembed', 'embed', 'newsstand']);

/** How long the address of a paper may be, in characters. */
const URL_MAX = 2_048;

/** A paper's record: `paper.yaml`, or the body of `PUT /api/v1/config`. */
export const PaperBody = z.strictObject({
  nameplate: line(80).refine((text) => text !== '', 'must not be empty'),
  motto: line(200).default(''),
  description: line(500).default(''),
  /** BCP 47 tag of the pieces that name none. */
  language: z
    .string()
    .refine(isLanguageTag, 'must be a language tag as in BCP 47, such as en, pt-BR or ja')
    .default('en'),
  /** The paper's colour, an angle on the OKLCH wheel. */
  hue: z.int().min(0).max(359).default(28),
  /** In the order in which they are shown. */
  sections: z
    .array(
      line(60, 'must be a text, as in [News, Weather]').refine((text) => text !== '', 'must not be empty'),
      { error: 'must be a list of texts, as in [News, Weather]' },
    )
    .min(1)
    .max(40)
    .refine(
      (names) => new Set(names.map(sectionSlug)).size === names.length,
      'two sections would have the same address; rename one',
    ),
  default_kind: z.enum(KINDS).default('news'),
  paper_public: z.boolean().default(true),
  /** The least number of distinct publishers of a piece on air. */
  source_floor: z.int().min(SOURCE_FLOOR_MIN).default(SOURCE_FLOOR_MIN),
  /** The root address when the paper has a domain of its own; else it hangs under the shared host. */
  url: z
    .string()
    // What follows is not asked of longer ones.
    .max(URL_MAX, { abort: true })
    .check(z.url({ protocol: /^https?$/ }))
    .refine((url) => !/[?#@]/.test(url), 'must be an address without a query, a fragment or a user name')
    .transform((url) => url.replace(/\/+$/, ''))
    .optional(),
  /** Where readers and security researchers write to: a mail address. */
  contact: z.email().optional(),
  /** When daily and weekly mails go out: an hour of the day on the clock of a zone; at 07:00 UTC when left out. */
  alerts: z
    .strictObject({
      hour: z.int().min(0).max(23).default(7),
      time_zone: z
        .string()
        .refine(isTimeZone, 'must be a name of the IANA time zone database, such as Europe/Berlin')
        .default('UTC'),
    })
    .optional(),
  /** How the desk works, in Markdown, for the standards page. */
  standards: z.string().max(20_000).default(''),
});
export type PaperBody = z.infer<typeof PaperBody>;

/** A paper's record with its address: all that most of its files may read. */
export interface PaperRecord extends PaperBody {
  slug: string;
}

/** A paper at present. */
export interface Paper extends PaperRecord {
  /** Grows by one with every change that a reader can see. */
  edition: number;
  /** When the last such change came, in ms. */
  changed_at: number;
}

/** Whether a text can be a paper's slug: its first path segment on the shared host. */
export function isPaperSlug(text: string): boolean {
  return /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(text) && text.length <= 60 && !RESERVED_SLUGS.has(text);
}

/** The paper's root address, without a slash at its end. */
export function paperRoot(paper: { slug: string; url?: string | undefined }, origin: string): string {
  return paper.url ?? `${origin}/${paper.slug}`;
}

/** A section's slug: its name in ASCII words, or a stable substitute when it has none. */
export function sectionSlug(name: string): string {
  return asciiWords(name).join('-') || `section-${sha256(name).slice(7, 15)}`;
}
