import * as z from 'zod';
import { readWithin } from '../../shared/size.ts';

/** Timeout of a node's response, including its last byte, in ms. */
const NODE_WAIT = 5_000;
/** Maximum size of a response, in bytes: a receipt holds all logs of its transaction. */
const ANSWER_MAX = 4_000_000;
/** The error code of a call that the contract reverted (EIP-1474, execution error). */
const REVERTED = 3;

/** A response object (JSON-RPC 2.0, section 5). */
const Answer = z.object({
  id: z.number(),
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string() }).nullish(),
});

/** An error that the node returned. `isRevert` is true when the called contract reverted. */
export class NodeError extends Error {
  readonly isRevert: boolean;

  constructor({ code, message }: { code: number; message: string }) {
    super(`the node answered ${code}: ${message.slice(0, 200)}`);
    this.isRevert = code === REVERTED || /\brevert/i.test(message);
  }
}

export interface ChainNode {
  /** Calls a method. Throws a NodeError for an error that the node returns, and an Error for everything else. */
  ask<T>(method: string, params: readonly unknown[], result: z.ZodType<T>): Promise<T>;
}

/** A JSON-RPC client over HTTP. A user name and password in the URL are sent as Basic authentication; `wait` in ms. */
export function chainNode(address: string, wait = NODE_WAIT): ChainNode {
  const url = new URL(address);
  const headers: Record<string, string> = { 'Content-Type': 'application/json', Accept: 'application/json' };
  if (url.username !== '' || url.password !== '') {
    const secret = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    headers.Authorization = `Basic ${Buffer.from(secret).toString('base64')}`;
    url.username = url.password = '';
  }
  let last = 0;
  return {
    async ask(method, params, result) {
      last += 1;
      const id = last;
      const response = await fetch(url, {
        method: 'POST',
        headers,
        body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
        signal: AbortSignal.timeout(wait),
      });
      const answer = Answer.parse(JSON.parse(await textOf(response, ANSWER_MAX)));
      if (answer.id !== id) throw new Error('the node answered another question');
      // Some nodes send JSON-RPC errors with an HTTP error status.
      if (answer.error != null) throw new NodeError(answer.error);
      if (!response.ok) throw new Error(`the node answered with status ${response.status}`);
      return result.parse(answer.result);
    },
  };
}

/** The body of a response. Throws when it has more than `max` bytes. */
export async function textOf({ body }: Response, max: number): Promise<string> {
  const tooLong = () => new Error(`the node answered with more than ${max} bytes`);
  return (await readWithin(body ?? [], max, tooLong)).toString();
}
