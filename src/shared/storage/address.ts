import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export type Address = S3Address | FolderAddress;

interface Base {
  /** The paper whose files are at the address itself; null when each paper has a folder below it. */
  paper: string | null;
  /** The address in its one canonical form, by which the database remembers it. */
  href: string;
}

export interface S3Address extends Base {
  kind: 's3';
  bucket: string;
  /** The prefix of every key: empty, or a path that ends with a slash. */
  prefix: string;
  /** Address of the service, without a trailing slash. */
  endpoint: string;
  region: string;
}

export interface FolderAddress extends Base {
  kind: 'folder';
  folder: string;
}

/** Defaults for an address: the values of the standard AWS variables. */
export interface AddressDefaults {
  endpoint?: string | undefined;
  region?: string | undefined;
}

/** Names that S3 accepts for buckets; other stores accept no more. */
const BUCKET = /^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/i;
const SHAPE = 'must be s3://BUCKET/PREFIX, a folder, or a file: address';
const QUERY = ['endpoint', 'region', 'paper'];
const REGION = /^[a-z0-9][a-z0-9._-]*$/i;
/** Keys have at most 1,024 bytes, of which the longest paths in a tree need half. */
const PREFIX_MAX = 512;

/** Parses an s3: or file: address or the path of a folder. Returns a sentence without a subject for others. */
export function parseAddress(text: string, defaults: AddressDefaults = {}): Address | string {
  if (text.trim() === '' || text.includes('\0')) return SHAPE;
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase();
  // A path of Windows begins with one letter and a colon.
  if (scheme === undefined || scheme.length === 1) return folderAddress(resolve(text), null);
  if (!URL.canParse(text) || (scheme !== 's3' && scheme !== 'file')) return SHAPE;
  const url = new URL(text);
  const unknown = [...url.searchParams.keys()].find((name) => !QUERY.includes(name));
  if (unknown !== undefined)
    return `must not have ${JSON.stringify(unknown)} after the ?; it may have ${QUERY.join(', ')}`;
  const twice = QUERY.find((name) => url.searchParams.getAll(name).length > 1);
  if (twice !== undefined) return `must have ${twice} once`;
  if (url.hash !== '') return 'must not have a #';
  const paper = url.searchParams.get('paper') || null;
  if (scheme === 's3') return s3Address(url, paper, defaults);
  try {
    return folderAddress(fileURLToPath(`file://${url.host}${url.pathname}`), paper);
  } catch {
    return SHAPE;
  }
}

/** An address as messages show it: without what may be a password. */
export function shownAddress(text: string): string {
  const scheme = text.indexOf('://');
  if (scheme < 0) return text;
  if (/@|%40/i.test(text)) return `${text.slice(0, scheme)}://…`;
  const [address = '', query, more] = text.split('?');
  const names = (query ?? '').split('&').map((pair) => pair.split('=', 1)[0] ?? '');
  const isPlain = query === undefined || (more === undefined && names.every((name) => QUERY.includes(name)));
  return isPlain ? text : `${address}?…`;
}

function folderAddress(folder: string, paper: string | null): FolderAddress {
  return { kind: 'folder', folder, paper, href: paper === null ? folder : `${folder}?paper=${paper}` };
}

function s3Address(url: URL, paper: string | null, defaults: AddressDefaults): S3Address | string {
  if (url.username !== '' || url.password !== '' || url.port !== '') {
    return 'must not hold credentials or a port; credentials are read from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and a port belongs into ?endpoint=';
  }
  if (!BUCKET.test(url.host))
    return `must name a bucket after s3://, as in s3://BUCKET/PREFIX; ${JSON.stringify(url.host)} is not a bucket name`;
  const region = url.searchParams.get('region') || defaults.region || 'us-east-1';
  if (!REGION.test(region)) return `must have a region such as eu-central-1; ${JSON.stringify(region)} is not one`;
  const given = url.searchParams.get('endpoint') || defaults.endpoint || `https://s3.${region}.amazonaws.com`;
  const endpoint = given.replace(/\/+$/, '');
  if (!URL.canParse(endpoint) || !/^https?:\/\/[^/?#@]+$/.test(endpoint)) {
    return `must have an endpoint that is a scheme and a host, such as https://s3.example.net; ${JSON.stringify(shownAddress(given))} is not`;
  }
  const path = decoded(url.pathname)?.replace(/^\/+|\/+$/g, '');
  if (path === undefined) return 'must have a path in UTF-8, in which a % is written %25';
  if (/\p{Cc}/u.test(path)) return 'must not have control characters in its path';
  if (path.split('/').some((name) => name === '.' || name === '..')) return 'must not have . or .. in its path';
  const prefix = path === '' ? '' : `${path}/`;
  const bytes = Buffer.byteLength(prefix);
  if (bytes > PREFIX_MAX) return `must have a prefix of at most ${PREFIX_MAX} bytes; this one has ${bytes}`;
  const query = new URLSearchParams({ endpoint, region, ...(paper === null ? {} : { paper }) });
  return { kind: 's3', bucket: url.host, prefix, endpoint, region, paper, href: `s3://${url.host}/${prefix}?${query}` };
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** The prefix of a tree's keys; a tree is a paper, or `log`. */
export function treePrefix(address: Address, tree: string): string {
  const base = address.kind === 's3' ? address.prefix : '';
  return tree === address.paper ? base : `${base}${tree}/`;
}
