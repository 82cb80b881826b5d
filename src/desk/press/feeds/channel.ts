import { createHash } from 'node:crypto';
import { fill } from '../../../phrases/fill.ts';
import { phrasesOf } from '../../../phrases/tables.ts';
import type { Story } from '../../archive.ts';
import type { Paper } from '../../papers/paper.ts';
import type { Edition } from '../edition.ts';

/** The paper of a feed, and its address. Publishing a piece does not change it. */
export interface Channel {
  paper: Omit<Paper, 'edition' | 'changed_at'>;
  /** Absolute root address, without a trailing slash. */
  root: string;
  /** The WebSub hub that is notified of changes; null without one. */
  hub?: string | null;
}

export function channelOf(edition: Edition): Channel {
  const { root, hub = null } = edition.site;
  return { paper: edition.paper(), root, hub };
}

/** A published piece as feeds show it in full. */
export interface FeedItem extends Story {
  /** The prose as HTML. Its markers link to the footnotes by fragment. */
  html: string;
  /** Absolute address of the piece's own art, or of its share card. */
  image_url: string;
  image_type: string;
  /** Size of that picture's file in bytes; null for a share card, which may not be drawn yet. */
  image_bytes: number | null;
  /** Absolute address of the persona's portrait. */
  avatar_url: string;
}

/** A persona's name as every feed prints it, with the AI disclosure. */
export function declared({ paper }: Channel, name: string): string {
  return fill(phrasesOf(paper.language).byline.declared, { name });
}

/**
 * A name in a form that gofeed accepts: it reads `name (mail)`, `mail (name)` and names without `@`, `(` and `)`, and
 * drops any other author.
 */
export function authorName(name: string): string {
  return name.replaceAll('(', '[').replaceAll(')', ']').replaceAll('@', '\uff20');
}

/** The disclosure in the description of every channel. */
export const disclosure = ({ paper }: Channel): string => phrasesOf(paper.language).feed.disclosure;

export function channelDescription(channel: Channel): string {
  const { paper } = channel;
  const words = (paper.description || paper.motto || paper.nameplate).trim();
  return `${words}${ENDED.test(words) ? '' : '.'} ${disclosure(channel)}`;
}

/** The end of a sentence in any script, including closing quotes and brackets. */
const ENDED = /[\p{Sentence_Terminal}\u2026][\p{Pe}\p{Pf}\p{Pi}"']*$/u;

export function fileUrl(root: string, path: string): string {
  return `${root}/${path.split('/').map(encodeURIComponent).join('/')}`;
}

/** Parses a text as an http(s) address; null for anything else. */
export function webAddress(text: string): string | null {
  if (!/^https?:\/\/[^\s]+$/i.test(text)) return null;
  return URL.parse(text)?.href ?? null;
}

/** Namespace of the identifiers of feed items. Generated at random once; it must never change. */
export const ITEM_NAMESPACE = '0d2a4f1c-5c1e-4b8e-9a43-6f1d2f0c7be1';

/** A name-based UUID (RFC 9562, version 5): the same namespace and name give the same UUID. */
export function uuid5(namespace: string, name: string): string {
  const bytes = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name)
    .digest()
    .subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** `urn:uuid:…`, from the piece's id, so that feed readers know it again when a paper moves to its own domain. */
export function itemUrn(name: string): string {
  return `urn:uuid:${uuid5(ITEM_NAMESPACE, name)}`;
}
