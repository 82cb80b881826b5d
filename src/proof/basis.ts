import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';

export type Kind = 'news' | 'blog';

/** An entry that a `[^N]` marker in the prose cites. */
export interface CitedFact {
  n: number;
  statement: string;
  /** The publisher. */
  source: string;
  /** The document: an address, or its name. */
  instrument: string;
  /** The key of a fact in the paper's record, or null. */
  claim_key: string | null;
  /** The passage of the document on which the statement rests; absent if none was given. */
  quote?: string;
}

/**
 * Where a piece comes from if it was not made under the desk's own rules. `archive`: it was first published elsewhere.
 */
export type Provenance = 'archive';

/** One of the people who wrote a piece. */
export interface Author {
  name: string;
  /** An https address, for example of the author's own page. */
  url?: string;
}

/** The parts of a piece that its hash covers. */
export interface Hashed {
  id: string;
  revision: number;
  headline: string;
  dek: string;
  prose: string;
  cited_facts: CitedFact[];
  /** The section's name. */
  category: string;
  kind: Kind;
  /** The persona's name and title on the day of filing. */
  byline: { name: string; title: string };
  /** The author and license of the work on which the piece is based. */
  credit: string | null;
  /** The people who wrote the piece, if the persona did not. */
  authors: Author[];
  /** The writers in one line, as in pieces filed before `authors` existed; never together with `authors`. */
  written_by: string | null;
  /** Null for a piece filed under the desk's own rules. */
  provenance: Provenance | null;
}

/** Exactly what a content hash covers (protocol 4.1). The airing time of a piece is not part of it. */
export type Basis = ReturnType<typeof basisOf>;

/** The basis of one generation. */
export function basisOf(piece: Hashed) {
  return {
    v: 1 as const,
    id: piece.id,
    revision: piece.revision,
    headline: piece.headline,
    dek: piece.dek,
    prose: piece.prose,
    cited_facts: piece.cited_facts.map(({ n, statement, source, instrument, claim_key, quote }) => ({
      n,
      statement,
      source,
      instrument,
      claim_key,
      ...(quote === undefined ? {} : { quote }),
    })),
    category: piece.category,
    kind: piece.kind,
    byline: { name: piece.byline.name, title: piece.byline.title },
    ...(piece.credit === null ? {} : { credit: piece.credit }),
    ...(piece.authors.length === 0
      ? {}
      : { authors: piece.authors.map(({ name, url }) => (url === undefined ? { name } : { name, url })) }),
    ...(piece.written_by === null ? {} : { written_by: piece.written_by }),
    ...(piece.provenance === null ? {} : { provenance: piece.provenance }),
  };
}

/** `sha256:<hex>` of the canonical form of any JSON value (RFC 8785, protocol 4.2). */
export function contentHash(basis: unknown): string {
  const canonical = canonicalize(basis);
  if (canonical === undefined) throw new TypeError('a basis must be a JSON value');
  return sha256(canonical);
}

/** `sha256:<hex>` of a text in UTF-8, or of bytes. */
export function sha256(data: string | Uint8Array): string {
  return `sha256:${hash('sha256', data, 'hex')}`;
}
