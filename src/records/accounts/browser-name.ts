/** Words of a User-Agent and what they stand for. Browsers also name those that they descend from, so the order counts. */
const BROWSERS: readonly [word: string, name: string][] = [
  ['Edg', 'Edge'],
  ['OPR/', 'Opera'],
  ['SamsungBrowser', 'Samsung Internet'],
  ['Firefox/', 'Firefox'],
  ['FxiOS', 'Firefox'],
  ['CriOS', 'Chrome'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
];
const SYSTEMS: readonly [word: string, name: string][] = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Macintosh', 'Mac'],
  ['CrOS', 'ChromeOS'],
  ['Linux', 'Linux'],
];

/** The longest part of a User-Agent that is read, in characters. */
const READ_MAX = 400;

/**
 * What a User-Agent says of the browser and its system: `Firefox on Linux`. Null where it names neither. Nothing else of
 * it is kept, no version either, so that sessions are told apart and nobody is recognized.
 */
export function browserName(userAgent: string | undefined): string | null {
  const text = (userAgent ?? '').slice(0, READ_MAX);
  const nameIn = (words: readonly [string, string][]) => words.find(([word]) => text.includes(word))?.[1];
  const [browser, system] = [nameIn(BROWSERS), nameIn(SYSTEMS)];
  if (browser === undefined) return system === undefined ? null : `A program on ${system}`;
  return system === undefined ? browser : `${browser} on ${system}`;
}
