import type { Check } from './check.ts';
import { ENGLISH, type Words } from './words.ts';

/** A check and its outcome as an item of a list. */
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
  // What is wrong with a proof is said in English on every page.
  made.dir = 'auto';
  return made;
}
