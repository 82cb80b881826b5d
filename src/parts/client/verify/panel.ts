import { fill } from '../../../phrases/fill.ts';
import { counted } from '../../../phrases/intl.ts';
import { membersIn, present } from '../../../proof/narrow.ts';
import { elementOf } from '../element.ts';
import { type Check, type CheckedProof, checkProof } from './check.ts';
import { fetched, fetchedBytes, fetchedText, NotFetched } from './fetched.ts';
import { checkItem } from './item.ts';
import { logOutcome } from './log.ts';
import { pageCheck } from './page.ts';
import { textsOutcome } from './texts.ts';
import { ENGLISH, type Words } from './words.ts';

/** Runs the checks in the panel of a story page: once when this script loads, then on each click of the button. */

const panel = elementOf('verify', HTMLElement);
const button = present(panel.querySelector('button'));
const status = present(panel.querySelector<HTMLElement>('[role="status"]'));
const { proof: proofUrl = '', keys: keysUrl = '', piece = '', revision, hash = '' } = panel.dataset;
const { policy = '', texts = '', forge = '', forged = '' } = panel.dataset;
const words: Words = panel.dataset.words === undefined ? ENGLISH : JSON.parse(panel.dataset.words);
const language = panel.dataset.language ?? 'en';

/** The delay between showing one check and the next, in ms. */
const STEP = 150;

let running = false;

/** A button that repeats the checks with one letter of the proof changed. */
const forger = document.createElement('button');
forger.type = 'button';
forger.className = 'forge';
forger.textContent = forge;
forger.addEventListener('click', () => run(true));

async function run(isForged = false): Promise<void> {
  if (running) return;
  running = true;
  status.className = '';
  status.textContent = words.checking;
  panel.querySelector('ol')?.remove();
  try {
    await verify(isForged);
  } catch (error) {
    const why = error instanceof NotFetched ? error.message : `the check itself broke off (${error}). Reload the page.`;
    status.textContent = fill(words.nothing, { reason: why });
  }
  button.textContent = words.again;
  running = false;
}

async function verify(isForged: boolean): Promise<void> {
  if (globalThis.crypto?.subtle === undefined) {
    status.textContent = words.insecure;
    return;
  }
  const [proof, keys] = await Promise.all([fetched(proofUrl), fetched(keysUrl)]);
  const shown = { id: piece, revision: Number(revision), content_hash: hash };
  const checked = checkProof({ proof: isForged ? forgery(proof) : proof, keys }, shown, words);
  const { checks, open } = await withPage(checked);
  const failed = checks.filter(({ holds }) => !holds);
  status.className = failed.length === 0 ? 'held' : 'failed';
  status.textContent = failed.length === 0 ? `${words.held} ${open}`.trim() : failure(failed, checks.length);
  const found = list(checks);
  status.after(found);
  if (isForged) status.textContent = forged;
  // Only offered when all checks hold.
  else if (failed.length === 0) found.after(forger);
  else forger.remove();
}

/** The proof with the first letter of its headline changed. */
function forgery(proof: unknown): unknown {
  const { basis, ...rest } = membersIn(proof);
  const { headline = '', ...others } = membersIn(basis);
  const text = String(headline);
  return { ...rest, basis: { ...others, headline: (text.startsWith('A') ? 'B' : 'A') + text.slice(1) } };
}

/** Adds the checks of the sources, of this page and of the log. `open` says what could not be checked. */
async function withPage({ proof, checks }: CheckedProof): Promise<{ checks: Check[]; open: string }> {
  if (proof === null) return { checks, open: '' };
  const ofTexts = await textsOutcome(proof, { address: texts, fetch: fetchedBytes }, words);
  const all = [...checks, ...(ofTexts.check === null ? [] : [ofTexts.check]), pageCheck(document, proof.basis, words)];
  const source = { address: policy, fetch: () => fetchedText(policy) };
  const outcome = await logOutcome(proof.receipt, proof.log, source, words);
  const [more, open] = 'open' in outcome ? [[], outcome.open] : [[outcome.check], ''];
  return { checks: [...all, ...more], open: `${ofTexts.open} ${open}`.trim() };
}

function failure(failed: Check[], count: number): string {
  const names = failed.map(({ title }) => `“${title}”`).join(', ');
  return fill(counted(language, words.failed, failed.length), { count: failed.length, all: count, names });
}

function list(checks: Check[]): HTMLOListElement {
  const made = document.createElement('ol');
  made.setAttribute('aria-label', words.checks);
  made.append(...checks.map((check) => checkItem(check, words)));
  // Shows one after the other, unless the reader prefers reduced motion.
  for (const [n, item] of [...made.children].entries()) (item as HTMLElement).style.animationDelay = `${n * STEP}ms`;
  return made;
}

button.addEventListener('click', () => run());
await run();
