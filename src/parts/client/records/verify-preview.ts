import { documentIn } from '../../../proof/records/verify/documents.ts';
import { elementOf } from '../element.ts';
import { keysOf, NothingChecked, policyOf } from './fetched.ts';
import { showVerdict } from './verdict.ts';

/** Checks the preview in the page: once when this script loads, then on each click of the button. */

const output = elementOf('verdict', HTMLElement);
const button = elementOf('verify', HTMLButtonElement);
const KEYS = '/.well-known/records-keys.json';

let running = false;

async function run(): Promise<void> {
  if (running) return;
  running = true;
  await showVerdict(output, async () => {
    const text = document.getElementById('preview')?.textContent ?? '';
    const given = documentIn(text);
    if (given === null) throw new NothingChecked('the page carries no preview that this program can read. Reload it.');
    return { document: given, keys: await keysOf(KEYS), policy: policyOf(location.href) };
  });
  button.textContent = 'Check again';
  running = false;
}

button.addEventListener('click', run);
await run();
