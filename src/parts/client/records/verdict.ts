import type { RecordsDocument } from '../../../records/verify/documents.ts';
import type { Check } from '../verify/check.ts';
import { checkItem } from '../verify/item.ts';
import { checkDocument, heldOf } from './check-document.ts';
import { NothingChecked } from './fetched.ts';
import type { Keys } from './receipts.ts';

const INSECURE =
  'Nothing was checked: this page did not come over https, and browsers keep their cryptography from such pages. Open it over https, or use the command `verify` of a checkout of Broadsheet.';

/**
 * Shows the outcome of each check as it completes, and then the verdict. `prepare` returns the document and its keys.
 */
export async function showVerdict(
  output: HTMLElement,
  prepare: () => Promise<{ document: RecordsDocument; keys: Keys }>,
): Promise<void> {
  const status = document.createElement('p');
  const list = document.createElement('ol');
  status.className = 'status';
  status.textContent = 'Checking…';
  list.setAttribute('aria-label', 'The checks');
  output.replaceChildren(status, list);
  output.dataset.state = 'checking';
  const say = (state: string, words: string): void => {
    output.dataset.state = state;
    status.textContent = words;
  };
  if (globalThis.crypto?.subtle === undefined) return say('unchecked', INSECURE);
  try {
    const given = await prepare();
    const checks: Check[] = [];
    for await (const check of checkDocument(given.document, given.keys)) {
      checks.push(check);
      list.append(checkItem(check));
    }
    const failed = checks.filter(({ holds }) => !holds);
    if (failed.length === 0) return say('held', heldOf(given.document));
    const named = failed.map(({ title }) => `“${title}”`).join(', ');
    say('failed', `Do not rely on it: ${failed.length} of ${checks.length} checks failed: ${named}.`);
  } catch (error) {
    const why = error instanceof NothingChecked ? error.message : `the check itself broke off (${error}).`;
    say('unchecked', `Nothing was checked: ${why}`);
  }
}
