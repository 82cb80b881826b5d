import canonicalize from 'canonicalize';

/**
 * A record's fields as texts that can be disclosed one by one (protocol 5.3): JCS([salt, name, value]). Without its
 * salt, a field cannot be guessed from the hashes of the tree. This file does no hashing, so it also runs in a reader's
 * browser.
 */

export interface Disclosed {
  salt: string;
  name: string;
  value: unknown;
}

/** The text of one disclosure (RFC 8785). Throws a TypeError for a value that is not JSON. */
export function disclosureText({ salt, name, value }: Disclosed): string {
  const text = canonicalize([salt, name, value]);
  if (text === undefined) throw new TypeError(`${name} is not a JSON value`);
  return text;
}

/** Parses a disclosure; null unless it is exactly what `disclosureText` writes, with a salt of at least 128 bits. */
export function parseDisclosure(text: string): Disclosed | null {
  let parts: unknown;
  try {
    parts = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Array.isArray(parts) || parts.length !== 3) return null;
  const [salt, name, value]: unknown[] = parts;
  if (typeof salt !== 'string' || typeof name !== 'string') return null;
  if (!/^[A-Za-z0-9_-]{22,}$/.test(salt)) return null;
  const disclosed = { salt, name, value };
  try {
    return disclosureText(disclosed) === text ? disclosed : null;
  } catch {
    return null;
  }
}
