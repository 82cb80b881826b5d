import { isIsoTime } from './time.ts';

// The signed texts of receipts and reviews: a header, then lines of a name, a space and a value, in a fixed order.

/** Numbers from 1. At most 15 digits, because longer ones lose precision. */
export const NUMBER = '[1-9]\\d{0,14}';
export const HASH = 'sha256:[0-9a-f]{64}';
export const PREVIOUS = `none|${HASH}`;
export const TIME = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z';
export const WORD = '\\S+';

/**
 * Makes the parser of a kind of text: it returns the values by their names, or null for a text of another form or with an
 * impossible time. `values` maps names to patterns, in the order of the lines.
 */
export function linesParser<Name extends string>(header: string, values: Readonly<Record<Name, string>>) {
  const named = Object.entries<string>(values);
  const pattern = new RegExp(
    `^${header}\n${named.map(([name, value]) => `${name} (?<${name}>${value})\n`).join('')}$`,
    'u',
  );
  return (text: string): Record<Name, string> | null => {
    const lines = pattern.exec(text)?.groups as Record<Name, string> | undefined;
    const isTimely = named.every(([name, value]) => value !== TIME || isIsoTime(lines?.[name as Name] ?? ''));
    return lines === undefined || !isTimely ? null : lines;
  };
}
