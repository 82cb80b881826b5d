/** Maximum number of members that are named. */
const NAMED_MAX = 20;

/** Names the unsigned members of a document; empty when there are none. `places` are the members' paths. */
export function unsignedWords(places: readonly string[]): string {
  if (places.length === 0) return '';
  const more = places.length > NAMED_MAX ? ` and ${places.length - NAMED_MAX} more` : '';
  return `not signed, and so not checked: ${places.slice(0, NAMED_MAX).join(', ')}${more}`;
}
