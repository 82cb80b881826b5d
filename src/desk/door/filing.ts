import * as z from 'zod';
import type { Author, CitedFact } from '../../proof/basis.ts';
import { normalized } from '../../shared/combining-marks.ts';
import { aliasesFrom } from './alias.ts';
import { type Filing, KINDS, MAX } from './piece.ts';
import { tagsFrom } from './tag.ts';

/** A cited fact as a desk writes it. Its number is its position in the list. A claim key makes the rest optional. */
export const CitedFactBody = z
  .strictObject({
    n: z.int().optional().meta({ description: 'Its number: its position in the list, from 1.' }),
    statement: z.string().optional().meta({ description: 'Required unless claim_key names a fact in the record.' }),
    source: z.string().optional().meta({ description: 'The publisher; required like the statement.' }),
    instrument: z.string().optional().meta({
      description: 'The document that says it: an address or a name; required like the statement.',
    }),
    claim_key: z.string().nullish().meta({
      description:
        'The key of a fact in the paper’s record: words of a–z and 0–9 joined by hyphens. A new key records the entry as a fact; with a known key, the entry must say what the record says, and omitted members are taken from there.',
    }),
    quote: z
      .string()
      .nullish()
      .meta({ description: `The words of the document that support the statement, up to ${MAX.quote} characters.` }),
  })
  .superRefine((fact, context) => {
    if (fact.claim_key) return;
    for (const name of ['statement', 'source', 'instrument'] as const) {
      if (fact[name] !== undefined) continue;
      context.addIssue({ code: 'custom', path: [name], message: 'this field is missing; add it' });
    }
  });

const ImageBody = z.strictObject({
  src: z.string(),
  alt: z.string(),
  credit: z.string().nullish(),
});

/** An author as a desk writes it: a name, or a name with an address. */
const AuthorBody = z.union(
  [z.string(), z.strictObject({ name: z.string(), url: z.string().nullish() })],
  'must be a name, or a name with an address: {name, url}',
);
type AuthorBody = z.infer<typeof AuthorBody>;

/** The body of a filing, from front matter, the import or the API. */
export const FilingBody = z.strictObject({
  slug: z.string().optional().meta({ description: 'The piece’s name in addresses; it never changes.' }),
  headline: z.string(),
  dek: z.string(),
  category: z.string().meta({ description: 'A section of the paper, by its name.' }),
  kind: z.enum(KINDS).optional(),
  byline: z.string().meta({ description: 'The slug of the persona that signs.' }),
  prose: z.string().meta({ description: 'Markdown without HTML. Each [^N] points at entry N of cited_facts.' }),
  cited_facts: z.array(CitedFactBody),
  language: z.string().optional().meta({ description: 'BCP 47; the paper’s own when omitted.' }),
  image: z.union([z.string(), ImageBody]).nullish(),
  credit: z.string().nullish().meta({ description: 'Whose work the piece is based on, and under which licence.' }),
  authors: z
    .array(AuthorBody)
    .nullish()
    .meta({
      description: `The people who wrote the piece, when people did, up to ${MAX.authors}: names, or names with https addresses. The persona in \`byline\` then only filed it.`,
    }),
  written_by: z.string().nullish().meta({
    description: 'The authors in one line, as pieces were filed before `authors`; give one of the two.',
  }),
  tags: z
    .array(z.string())
    .nullish()
    .meta({ description: `What the piece is about: up to ${MAX.tags} names of up to ${MAX.tag} characters.` }),
  aliases: z
    .array(z.string())
    .nullish()
    .meta({
      description: `Earlier addresses of the piece, which then lead to it: up to ${MAX.aliases} paths below the paper’s address, such as /2019/05/two-ferries/.`,
    }),
  correction: z.string().nullish().meta({ description: 'What was wrong and is right now; readers will see it.' }),
  revised_at: z.iso.datetime({ offset: true }).nullish(),
});
export type FilingBody = z.infer<typeof FilingBody>;

/** Normalizes a line to NFC and trims it. */
const line = (text: string): string => normalized(text).trim();
const optionalLine = (text: string | null | undefined): string | null => (text ? line(text) || null : null);

/** Leaves members empty that the record fills by claim key: see `withRecord`. */
function citedFactFrom(fact: z.infer<typeof CitedFactBody>, index: number): CitedFact {
  const { n = index + 1, statement = '', source = '', instrument = '', claim_key, quote } = fact;
  const words = optionalLine(quote?.replace(/\s+/gu, ' '));
  return {
    n,
    ...{ statement: line(statement), source: line(source), instrument: line(instrument) },
    claim_key: optionalLine(claim_key),
    ...(words === null ? {} : { quote: words }),
  };
}

function authorFrom(body: AuthorBody): Author {
  const { name, url } = typeof body === 'string' ? { name: body, url: null } : body;
  const address = optionalLine(url);
  return address === null ? { name: line(name) } : { name: line(name), url: address };
}

/** Normalizes prose to NFC, trims it and removes carriage returns. */
export function proseFrom(text: string): string {
  return normalized(text)
    .replace(/\r\n?|\u0085/g, '\n')
    .trim();
}

/** Creates a filing from its body: normalizes to NFC, trims, removes carriage returns and fills in defaults. */
export function filingFrom(
  body: FilingBody,
  defaults: { slug: string; kind: Filing['kind']; language: string },
): Filing {
  const image = typeof body.image === 'string' ? { src: body.image, alt: '', credit: null } : body.image;
  return {
    slug: body.slug ?? defaults.slug,
    headline: line(body.headline),
    dek: line(body.dek),
    prose: proseFrom(body.prose),
    cited_facts: body.cited_facts.map(citedFactFrom),
    category: line(body.category),
    kind: body.kind ?? defaults.kind,
    persona: body.byline,
    language: body.language ?? defaults.language,
    image: image ? { src: image.src, alt: line(image.alt), credit: optionalLine(image.credit) } : null,
    credit: optionalLine(body.credit),
    authors: (body.authors ?? []).map(authorFrom),
    written_by: optionalLine(body.written_by),
    provenance: null,
    tags: tagsFrom(body.tags ?? []),
    aliases: aliasesFrom(body.aliases ?? []),
    correction: optionalLine(body.correction),
    revised_at: body.revised_at ? Date.parse(body.revised_at) : null,
  };
}
