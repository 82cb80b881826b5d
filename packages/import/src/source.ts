import type { Readable } from 'node:stream';

/** A piece as another system exports it. */
export interface SourcePiece {
  /** Its name in the addresses of the other system. */
  slug: string;
  /** A text, or HTML where the other system allows it. */
  headline: string;
  /** A text or HTML; empty without one. */
  dek: string;
  /** Names, the main one first. */
  categories: string[];
  tags: string[];
  /** Names, or the logins for which a mapping has names. */
  authors: string[];
  /** As the other system writes it; null for a draft without one. */
  published_at: string | null;
  /** Why the piece was not published; null if it was. */
  draft: string | null;
  body: { html: string; isAutop?: boolean };
  /** Its own picture: an address, or a path in the archive. */
  image: { src: string; alt: string; credit: string | null } | null;
  /** Where it was published. */
  origin: string | null;
  /** Other addresses of it, absolute or root-relative. */
  aliases: string[];
  language: string | null;
  /** The folder of its file within the archive, for pictures beside it. */
  folder?: string;
  /** The address of the original of a picture, by the classes of its element. */
  original?(classes: string): string | null;
  /** What was left out while reading it, one sentence each. */
  notes?: string[];
}

/** One item of an archive: a piece, or the reason why it is skipped. */
export type SourceItem = { where: string; line: number; title: string } & (
  | { piece: SourcePiece }
  | { skipped: string }
  | { problem: { field: string; message: string } }
);

/** An archive of another system, which can be read again and again. */
export interface Source {
  /** The name of the system, for messages. */
  system: string;
  /** The site's name and address, as far as the archive has them. Read before the first item. */
  site(): Promise<{ title: string; url: string | null }>;
  /** Throws `ArchiveError` for a damaged archive. */
  items(): AsyncIterable<SourceItem>;
  /** A file of the archive, by a path in a piece, relative to the piece's folder; null when there is none. */
  file(path: string, folder: string): Promise<(() => Readable | Promise<Readable>) | null>;
  close(): void;
}

/** Why a text in Markdown takes too long to parse; null when it may be parsed. */
export type MarkdownProblem = (markdown: string) => string | null;

/** The longest text of one item that is read, in bytes: forty times the longest prose of a piece. */
export const ITEM_MAX = 16_000_000;

/** The members of a source that is a single file. */
export const NO_FILES = { file: async () => null, close() {} };
