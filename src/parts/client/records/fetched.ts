import { parseIJson } from '../../../proof/i-json.ts';
import { keysOf as keysIn } from '../../../proof/keyring.ts';
import { membersIn } from '../../../proof/narrow.ts';
import { NotFetched, textOf } from '../verify/fetched.ts';
import type { PolicySource } from '../verify/log.ts';
import type { Keys } from './receipts.ts';

/** Timeout of a server's response, in ms. */
const TIMEOUT = 20_000;
/** Maximum size of a document, in bytes; evidence bundles are the largest. */
const LONGEST = 64_000_000;

/** Why nothing could be checked, as opposed to a failed check. */
export class NothingChecked extends Error {}

/** Fetches a text. Throws `NothingChecked`. */
export async function fetchedText(address: string): Promise<string> {
  const response = await fetch(address, {
    headers: { accept: 'application/json' },
    credentials: 'omit',
    cache: 'no-cache',
    signal: AbortSignal.timeout(TIMEOUT),
  }).catch(() => {
    throw new NothingChecked(
      `${address} could not be fetched: no answer, or its host does not let other pages read it. Open it yourself and paste what it shows.`,
    );
  });
  const text = await textOf(response, LONGEST).catch(() => {
    throw new NothingChecked(`the connection broke while ${address} was on its way. Try again.`);
  });
  if (text === null) throw new NothingChecked(`${address} answered more than this page checks.`);
  if (!response.ok) throw new NothingChecked(`${address} answered ${response.status}${wordOf(text)}`);
  return text;
}

/** Fetches the keys that a site lists. Throws `NothingChecked` when there are none. */
export async function keysOf(address: string): Promise<Keys> {
  return readKeys(await fetchedText(address), address);
}

/** The policy of the log of a site. */
export function policyOf(site: URL | string): PolicySource {
  const address = new URL('/log/policy', site).href;
  const fetch = () =>
    fetchedText(address).catch((error) => {
      throw error instanceof NothingChecked ? new NotFetched(error.message) : error;
    });
  return { address, fetch };
}

/** Parses a key document. Throws `NothingChecked` for anything else. */
export function readKeys(text: string, from: string): Keys {
  const listed = keysIn(parseOrNull(text));
  if (listed.length === 0) throw new NothingChecked(`${from} is not a key document.`);
  return { listed, from };
}

function parseOrNull(text: string): unknown {
  try {
    return parseIJson(text);
  } catch {
    return null;
  }
}

/** A fault's message, for the end of a sentence. */
function wordOf(text: string): string {
  const { message } = membersIn(parseOrNull(text));
  return typeof message === 'string' ? `: ${message}` : '. Look at the address in your browser.';
}
