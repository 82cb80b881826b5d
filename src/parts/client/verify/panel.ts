import { present } from '../../../narrow.ts';
import { elementOf } from '../element.ts';
import type { Check, CheckedProof } from './check.ts';
import { checkProof } from './check.ts';
import { fetched, fetchedText, NotFetched } from './fetched.ts';
import { checkItem } from './item.ts';
import { logOutcome } from './log.ts';
import { pageCheck } from './page.ts';

/** Runs the checks in the panel of a story page: once when this script loads, then on each click of the button. */

const panel = elementOf('verify', HTMLElement);
const button = present(panel.querySelector('button'));
const status = present(panel.querySelector<HTMLElement>('[role="status"]'));
const { proof: proofUrl = '', keys: keysUrl = '', piece = '', revision, hash = '', policy = '' } = panel.dataset;

const INSECURE =
  'Nothing was checked: this page did not come over https, and browsers keep their cryptography from such pages. Open it over https, or check the proof by the commands below.';
const HELD =
  'All checks hold: the paper’s door signed this very text, and it has not changed since. That is no proof that a claim in it is true; for that, read the sources. And this page checked itself: whoever doubts the page runs the commands below.';

let running = false;

async function run(): Promise<void> {
  if (running) return;
  running = true;
  status.className = '';
  status.textContent = 'Checking…';
  panel.querySelector('ol')?.remove();
  try {
    await verify();
  } catch (error) {
    const why = error instanceof NotFetched ? error.message : `the check itself broke off (${error}). Reload the page.`;
    status.textContent = `Nothing was checked: ${why}`;
  }
  button.textContent = 'Check again';
  running = false;
}

async function verify(): Promise<void> {
  if (globalThis.crypto?.subtle === undefined) {
    status.textContent = INSECURE;
    return;
  }
  const [proof, keys] = await Promise.all([fetched(proofUrl), fetched(keysUrl)]);
  const shown = { id: piece, revision: Number(revision), content_hash: hash };
  const checked = await checkProof({ proof, keys }, shown);
  const { checks, open } = await withPage(checked);
  const failed = checks.filter(({ holds }) => !holds);
  status.className = failed.length === 0 ? 'held' : 'failed';
  status.textContent = failed.length === 0 ? `${HELD} ${open}`.trim() : failure(failed, checks.length);
  status.after(list(checks));
}

/** The checks of a proof with those of this page and of the log, and what was not checked of the log. */
async function withPage({ proof, checks }: CheckedProof): Promise<{ checks: Check[]; open: string }> {
  if (proof === null) return { checks, open: '' };
  const all = [...checks, pageCheck(document, proof.basis)];
  const outcome = await logOutcome(proof.receipt, proof.log, { address: policy, fetch: () => fetchedText(policy) });
  return 'open' in outcome ? { checks: all, open: outcome.open } : { checks: [...all, outcome.check], open: '' };
}

function failure(failed: Check[], count: number): string {
  const named = failed.map(({ title }) => `“${title}”`).join(', ');
  return `${failed.length} of ${count} checks failed: ${named}. Reload the page and check again, for it may have been revised this minute. If it fails again, do not rely on this page: keep a copy of the proof and tell the paper.`;
}

function list(checks: Check[]): HTMLOListElement {
  const made = document.createElement('ol');
  made.setAttribute('aria-label', 'The checks');
  made.append(...checks.map(checkItem));
  return made;
}

button.addEventListener('click', run);
await run();
