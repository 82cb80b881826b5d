import { isIsoTime } from './time.ts';

// The signed texts of receipts and reviews: a header, then lines of a name, a space and a value, in a fixed order.

/** Numbers from 1. At most 15 digits, because longer ones lose precision. */
export const NUMBER = '[1-9]\\d{0,14}';
export const HASH = 'sha256:[0-9a-f]{64}';
export const PREVIOUS = `none|${HASH}`;
export const TIME = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z';
export const WORD = '\\S+';

/**
 * Makes a parser for one kind of text. It returns the values by name, or null for a text of another form or with an
 * impossible time. `values` maps names to patterns, in the order of the lines. Lines named in `later` may be missing,
 * because older texts lack them.
 */
export function linesParser<Name extends string, Later extends Name = never>(
  header: string,
  values: Readonly<Record<Name, string>>,
  later: readonly Later[] = [],
) {
  const named = Object.entries<string>(values);
  const lineOf = ([name, value]: [string, string]): string => {
    const line = `${name} (?<${name}>${value})\n`;
    return later.some((one) => one === name) ? `(?:${line})?` : line;
  };
  const pattern = new RegExp(`^${header}\n${named.map(lineOf).join('')}$`, 'u');
  return (text: string): (Record<Exclude<Name, Later>, string> & Partial<Record<Later, string>>) | null => {
    const lines = pattern.exec(text)?.groups as Record<Name, string> | undefined;
    const isTimely = named.every(([name, value]) => value !== TIME || isIsoTime(lines?.[name as Name] ?? ''));
    return lines === undefined || !isTimely ? null : lines;
  };
}
