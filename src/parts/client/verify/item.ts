import type { Check } from './check.ts';

/** A check and its outcome as an item of a list. */
export function checkItem({ title, holds, found }: Check): HTMLLIElement {
  const item = document.createElement('li');
  item.className = holds ? 'held' : 'failed';
  const heading = document.createElement('p');
  const outcome = document.createElement('b');
  outcome.textContent = holds ? 'Holds' : 'Fails';
  heading.append(outcome, ` ${title}`);
  item.append(heading, ...found.map(paragraph));
  return item;
}

function paragraph(text: string): HTMLParagraphElement {
  const made = document.createElement('p');
  made.textContent = text;
  return made;
}
