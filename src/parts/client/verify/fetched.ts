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
  const bytes = await fetchedBytes(address);
  if (bytes !== null) return new TextDecoder().decode(bytes);
  throw new NotFetched(
    `the paper’s server has no ${nameOf(address)}. Without it nobody can check this: reload the page, and if it is still missing, tell the paper.`,
  );
}

const nameOf = (address: string): string => address.slice(address.lastIndexOf('/') + 1);

/** Fetches a file from the paper's own site; null when there is none. Throws `NotFetched`. */
export async function fetchedBytes(address: string): Promise<Uint8Array | null> {
  const name = nameOf(address);
  const response = await fetch(address, { cache: 'no-cache', signal: AbortSignal.timeout(TIMEOUT) }).catch(() => {
    throw new NotFetched(
      `${name} could not be fetched. Your connection may be down, or the paper’s server; that says nothing about the piece. Try again in a while.`,
    );
  });
  if (response.status === 404 || response.status === 410) return null;
  if (!response.ok) {
    throw new NotFetched(
      `the paper’s server answered ${response.status} instead of ${name}. That says nothing about the piece; try again in a while.`,
    );
  }
  const bytes = await bytesOf(response, LONGEST).catch(() => {
    throw new NotFetched(`the connection broke while ${name} was on its way. Try again.`);
  });
  if (bytes === null) throw new NotFetched(`${name} is longer than any that this page can check.`);
  return bytes;
}

/** The text of a response; null when it exceeds the limit in bytes. */
export async function textOf(response: Response, longest: number): Promise<string | null> {
  const bytes = await bytesOf(response, longest);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}

/** The body of a response; null when it exceeds the limit in bytes, which are counted as they arrive. */
async function bytesOf(response: Response, longest: number): Promise<Uint8Array | null> {
  const reader = response.body?.getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for (let step = await reader?.read(); step?.done === false; step = await reader?.read()) {
    length += step.value.length;
    if (length > longest) {
      await reader?.cancel();
      return null;
    }
    parts.push(step.value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
