import type { RecordsDocument } from '../../../proof/records/verify/documents.ts';
import type { Check } from '../verify/check.ts';
import { checkItem } from '../verify/item.ts';
import type { PolicySource } from '../verify/log.ts';
import { checkDocument, heldOf } from './check-document.ts';
import { NothingChecked } from './fetched.ts';
import type { Keys } from './receipts.ts';
import { treeDrawing } from './tree-drawing.ts';

const INSECURE =
  'Nothing was checked: this page did not come over https, and browsers keep their cryptography from such pages. Open it over https, or use the command `verify` of a checkout of Broadsheet.';

/** The document to check, and what to check it with. */
export interface Given {
  document: RecordsDocument;
  keys: Keys;
  policy: PolicySource;
}

/**
 * Shows the outcome of each check as it completes, and then the verdict. `prepare` returns the document and its keys.
 */
export async function showVerdict(output: HTMLElement, prepare: () => Promise<Given>): Promise<void> {
  const status = document.createElement('p');
  const list = document.createElement('ol');
  status.className = 'status';
  status.textContent = 'Checking…';
  list.setAttribute('aria-label', 'The checks');
  const running = document.createElement('li');
  running.className = 'running';
  running.textContent = 'The next step…';
  list.append(running);
  output.replaceChildren(status, list);
  output.dataset.state = 'checking';
  const say = (state: string, words: string): void => {
    output.dataset.state = state;
    status.textContent = words;
  };
  if (globalThis.crypto?.subtle === undefined) {
    running.remove();
    return say('unchecked', INSECURE);
  }
  try {
    const given = await prepare();
    const checks: Check[] = [];
    const unchecked: string[] = [];
    for await (const outcome of checkDocument(given.document, given.keys, given.policy)) {
      if ('unchecked' in outcome) unchecked.push(outcome.unchecked);
      else {
        checks.push(outcome);
        const item = checkItem(outcome);
        const drawing = outcome.tree === undefined || !outcome.holds ? null : treeDrawing(outcome.tree);
        if (drawing !== null) item.append(drawing);
        running.before(item);
      }
    }
    running.remove();
    const failed = checks.filter(({ holds }) => !holds);
    if (failed.length === 0) return say('held', [heldOf(given.document), ...unchecked].join(' '));
    const named = failed.map(({ title }) => `“${title}”`).join(', ');
    say('failed', `Do not rely on it: ${failed.length} of ${checks.length} checks failed: ${named}.`);
  } catch (error) {
    running.remove();
    const why = error instanceof NothingChecked ? error.message : `the check itself broke off (${error}).`;
    say('unchecked', `Nothing was checked: ${why}`);
  }
}
