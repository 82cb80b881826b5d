/** How many members are named; of a document of a million nobody reads more. */
const NAMED_MAX = 20;

/** What of a document nobody signed, in words; empty when there is nothing. `places` are its members' places. */
export function unsignedWords(places: readonly string[]): string {
  if (places.length === 0) return '';
  const more = places.length > NAMED_MAX ? ` and ${places.length - NAMED_MAX} more` : '';
  return `not signed, and so not checked: ${places.slice(0, NAMED_MAX).join(', ')}${more}`;
}
