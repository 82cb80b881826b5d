import { parseIJson } from '../../../proof/i-json.ts';

/** Timeout of the response from the paper's site, in ms. */
const TIMEOUT = 20_000;
/** Maximum size of a file, in bytes; a long piece with a hundred revisions is smaller. */
const LONGEST = 16_000_000;

/** Why a file could not be fetched. This never counts as a failed check. */
export class NotFetched extends Error {}

/**
 * Fetches a JSON file from the paper's own site. Throws `NotFetched`. For a file that is not I-JSON, returns the error
 * that describes the problem.
 */
export async function fetched(address: string): Promise<unknown> {
  const text = await fetchedText(address);
  try {
    return parseIJson(text);
  } catch (error) {
    return error;
  }
}

/** Fetches a text from the paper's own site. Throws `NotFetched`. */
export async function fetchedText(address: string): Promise<string> {
  const name = address.slice(address.lastIndexOf('/') + 1);
  const response = await fetch(address, { cache: 'no-cache', signal: AbortSignal.timeout(TIMEOUT) }).catch(() => {
    throw new NotFetched(
      `${name} could not be fetched. Your connection may be down, or the paper’s server; that says nothing about the piece. Try again in a while.`,
    );
  });
  if (response.status === 404 || response.status === 410) {
    throw new NotFetched(
      `the paper’s server has no ${name} (it answered ${response.status}). Without it nobody can check this: reload the page, and if it is still missing, tell the paper.`,
    );
  }
  if (!response.ok) {
    throw new NotFetched(
      `the paper’s server answered ${response.status} instead of ${name}. That says nothing about the piece; try again in a while.`,
    );
  }
  const text = await textOf(response, LONGEST).catch(() => {
    throw new NotFetched(`the connection broke while ${name} was on its way. Try again.`);
  });
  if (text === null) throw new NotFetched(`${name} is longer than any that this page can check.`);
  return text;
}

/** The text of a response; null when it exceeds the limit in bytes, which are counted as they arrive. */
export async function textOf(response: Response, longest: number): Promise<string | null> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let [text, length] = ['', 0];
  for (let step = await reader?.read(); step?.done === false; step = await reader?.read()) {
    length += step.value.length;
    if (length > longest) {
      await reader?.cancel();
      return null;
    }
    text += decoder.decode(step.value, { stream: true });
  }
  return text + decoder.decode();
}
