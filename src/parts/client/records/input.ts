import { documentIn } from '../../../proof/records/verify/documents.ts';
import { fetchedText, keysOf, NothingChecked, policyOf, readKeys } from './fetched.ts';
import type { Keys } from './receipts.ts';
import type { Given } from './verdict.ts';

const KEYS_PATH = '/.well-known/records-keys.json';

const WHAT =
  'a receipt (it begins with “domain-observation/v1”), a preview, a full record, a page of provenance, an evidence bundle, a badge or the proof of a dump';

/**
 * The reader's input: a text or its address, and optionally keys to trust instead of the ones of the document's site.
 */
export interface Input {
  text: string;
  /** An address, a path of this site, or a hostname. */
  from: string;
  /** A key document, or its address; empty for the site's own. */
  keys: string;
}

/** Reads the document and the keys to check it with. Throws `NothingChecked`. */
export async function readInput({ text, from, keys }: Input): Promise<Given> {
  if (text.trim() === '' && from.trim() === '') {
    throw new NothingChecked(`give ${WHAT}, or where one is.`);
  }
  const address = text.trim() === '' ? addressOf(from.trim()) : null;
  const document = documentIn(address === null ? text : await fetchedText(address.href));
  if (document === null) {
    throw new NothingChecked(
      `this is not ${WHAT}${address === null ? '' : `, but what ${address.href} answered`}. See that it was copied whole.`,
    );
  }
  return { document, keys: await trusted(keys.trim(), address), policy: policyOf(address ?? location.href) };
}

/** Parses a typed address. A hostname means its time machine on this site. Throws `NothingChecked`. */
function addressOf(typed: string): URL {
  const isAddress = typed.startsWith('/') || /^https?:\/\//i.test(typed);
  const path = isAddress ? typed : `/t/${encodeURIComponent(typed)}`;
  const address = URL.canParse(path, location.href) ? new URL(path, location.href) : null;
  if (address === null) throw new NothingChecked(`${typed} is neither an address nor a hostname.`);
  return address;
}

/** The keys that the reader gave, else those of the document's site, else this site's. */
async function trusted(named: string, from: URL | null): Promise<Keys> {
  if (named.startsWith('{')) return readKeys(named, 'the key document that you gave');
  if (named !== '') return keysOf(new URL(named, location.href).href);
  return keysOf(new URL(KEYS_PATH, from ?? location.href).href);
}
