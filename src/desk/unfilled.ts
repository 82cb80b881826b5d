import type { Problem } from '../fault.ts';

/** A placeholder in a sample page. The brackets are rare in any language, and stay visible. */
export const toFillIn = (text: string): string => `⟦${text}⟧`;

const TO_FILL_IN = /⟦[^⟦⟧]{0,200}⟧/;

/** The problem of a page whose sample text was not filled in; null for any other. */
export function unfilledProblem(prose: string): Problem | null {
  const found = TO_FILL_IN.exec(prose);
  if (found === null) return null;
  const message = `${found[0]} is to be filled in before readers see the page; write what belongs there, or delete the page`;
  return { field: 'prose', rule: 'to_fill_in', message, offset: found.index };
}
