import canonicalize from 'canonicalize';

/**
 * A record's fields as texts that can be shown one by one: JCS([salt, name,
 * value]). Without its salt a field cannot be guessed from the tree's hashes.
 * Nothing here hashes, so that a reader's browser reads them too.
 */

export interface Disclosed {
  salt: string;
  name: string;
  value: unknown;
}

/** One disclosure's text: RFC 8785 over the array of salt, name and value. */
export function disclosureText({ salt, name, value }: Disclosed): string {
  const text = canonicalize([salt, name, value]);
  if (text === undefined) throw new TypeError(`${name} is not a JSON value`);
  return text;
}

/** Reads a disclosure; null when it is not in the one form that `disclosureText` gives, or its salt is short. */
export function parseDisclosure(text: string): Disclosed | null {
  let parts: unknown;
  try {
    parts = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Array.isArray(parts) || parts.length !== 3) return null;
  const [salt, name, value] = parts as unknown[];
  if (typeof salt !== 'string' || typeof name !== 'string') return null;
  if (!/^[A-Za-z0-9_-]{22,}$/.test(salt)) return null;
  const disclosed = { salt, name, value };
  try {
    return disclosureText(disclosed) === text ? disclosed : null;
  } catch {
    return null;
  }
}
