/** How many members are named. */
const NAMED_MAX = 20;

/** Says which members of a document are not signed; empty without any. `places` are the members' paths. */
export function unsignedWords(places: readonly string[]): string {
  if (places.length === 0) return '';
  const more = places.length > NAMED_MAX ? ` and ${places.length - NAMED_MAX} more` : '';
  return `not signed, and so not checked: ${places.slice(0, NAMED_MAX).join(', ')}${more}`;
}
