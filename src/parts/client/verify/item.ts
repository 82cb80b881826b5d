import type { Check } from './check.ts';
import { ENGLISH, type Words } from './words.ts';

/** A check and its result as a list item. */
export function checkItem({ title, holds, found }: Check, words: Words = ENGLISH): HTMLLIElement {
  const item = document.createElement('li');
  item.className = holds ? 'held' : 'failed';
  const heading = document.createElement('p');
  const outcome = document.createElement('b');
  outcome.textContent = holds ? words.holds : words.fails;
  heading.append(outcome, ` ${title}`);
  item.append(heading, ...found.map(paragraph));
  return item;
}

function paragraph(text: string): HTMLParagraphElement {
  const made = document.createElement('p');
  made.textContent = text;
  // Faults of a proof are in English on every page.
  made.dir = 'auto';
  return made;
}
