import { Fault } from '../../src/shared/fault.ts';

/** A request's header by its name in lower case. */
export type SentHeader = (name: string) => string | null | undefined;

/**
 * The text of the key that a request carries, as `Authorization: Bearer <key>` (RFC 6750, section 2.1) or in the header
 * `own`; null without one. Throws `key_invalid` if the two differ, or if `Authorization` has another form.
 */
export function sentKey(header: SentHeader, own: string): string | null {
  const [authorization, plain] = [header('authorization'), header(own.toLowerCase())];
  const texts: string[] = [];
  if (typeof authorization === 'string') {
    const text = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
    if (text === undefined)
      throw new Fault('key_invalid', 'Authorization is not of the form `Bearer <key>`; write it so');
    texts.push(text);
  }
  if (typeof plain === 'string') texts.push(plain.trim());
  const [text, other] = texts;
  if (other !== undefined && other !== text) {
    throw new Fault('key_invalid', `Authorization and ${own} hold different keys; send one`);
  }
  return text ?? null;
}
