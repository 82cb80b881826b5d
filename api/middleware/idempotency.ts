import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { ANSWER_TTL, type AnswerTable } from '../../src/desk/papers/answers.ts';
import { Fault } from '../../src/shared/fault.ts';

/** The result of a write. */
export interface Outcome<Body extends object> {
  status: 200 | 201;
  body: Body;
  /** Whether pages show the record, even if this write changed nothing. */
  isShown?: boolean;
}

/** A write, and the Idempotency-Key that its caller gave it, if any (protocol 8.6). */
export interface IdempotentWrite {
  name: string | null;
  /** The hash of the request. */
  request: string;
}

/** The caller of a write, and its time (ms). */
interface Caller {
  answers: AnswerTable;
  /** The id of the caller's key. */
  key: string;
  at: number;
}

/** Reads the Idempotency-Key and the body of a write. Throws `invalid_request` for an invalid key. */
export async function readIdempotentWrite(c: Context): Promise<IdempotentWrite> {
  const name = idempotencyKey(c);
  const { search } = new URL(c.req.url);
  const hash = createHash('sha256').update(`${c.req.method} ${c.req.path}${search}\n`);
  return { name, request: hash.update(new Uint8Array(await c.req.arrayBuffer())).digest('hex') };
}

/**
 * Does a write, or returns the stored response of the same caller's earlier write with that Idempotency-Key. Call it
 * within the transaction of the work. Throws `idempotency_key_reused` when another request used the key, and whatever
 * `work` throws.
 */
export function runOnce<Body extends object>(
  caller: Caller,
  named: IdempotentWrite,
  work: () => Outcome<Body>,
): Outcome<Body> {
  const { answers, key, at } = caller;
  const { name, request } = named;
  if (name === null) return work();
  const kept = answers.get(key, name, at - ANSWER_TTL);
  if (kept !== null) {
    if (kept.request !== request) throw reused(name);
    // An identical request was answered by the same work, so the body has the right type.
    return { status: kept.status === 201 ? 201 : 200, body: JSON.parse(kept.body) };
  }
  const done = work();
  storeAnswer(caller, named, done);
  return done;
}

/** Stores the result of a write for callers that retry it. */
export function storeAnswer(
  { answers, key, at }: Caller,
  { name, request }: IdempotentWrite,
  { status, body }: Outcome<object>,
): void {
  if (name !== null) answers.put(key, name, { request, status, body: JSON.stringify(body) }, at);
}

/** The Idempotency-Key of a write; null without one. Throws `invalid_request`. */
export function idempotencyKey(c: Context): string | null {
  const name = c.req.header('idempotency-key');
  if (name === undefined) return null;
  if (/^[\x20-\x7e]{1,255}$/.test(name)) return name;
  throw new Fault('invalid_request', 'Idempotency-Key must be 1 to 255 visible ASCII characters, such as a UUID', {
    field: 'Idempotency-Key',
  });
}

function reused(name: string): Fault {
  return new Fault(
    'idempotency_key_reused',
    `Idempotency-Key: ${JSON.stringify(name)} was the key of another request within 24 hours; give each write a key of its own`,
    { field: 'Idempotency-Key' },
  );
}
