import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ANSWER_KEPT } from '../../src/desk/answers.ts';
import type { AccessKey } from '../../src/desk/keys.ts';
import { signatureOf } from '../../src/desk/terms.ts';
import { Fault, refused } from '../../src/fault.ts';
import { readAgreement } from '../../src/works/agreement.ts';
import { needLevel } from '../middleware/key.ts';
import type { Doors, PaperContext } from './doors.ts';
import { privateJson } from './shelf.ts';

/** How long a write's answer waits for the press, in ms; after that it says where to ask. */
const PRESS_WAIT = 5_000;

/** What a write came to. */
export interface Outcome {
  status: 200 | 201;
  body: Record<string, unknown>;
}

/**
 * Does a write as one transaction, presses what it owes, and answers when the
 * files are on disk, or where to ask. Under an Idempotency-Key that the same
 * caller used before, the first answer comes again and nothing is done.
 * Throws what `work` throws, and then nothing was written.
 */
export async function write(doors: Doors, c: PaperContext, work: (key: AccessKey) => Outcome): Promise<Response> {
  const { store, now } = doors.shop;
  const key = needLevel(c.get('key'), 'agent');
  const name = nameOf(c);
  const request = await digestOf(c);
  const outcome = store.transact((): Outcome => {
    // The body may have been long in coming.
    if (!store.keys.isInForce(key.id))
      throw new Fault('key_invalid', 'this key was revoked; ask the paper’s admin for another');
    if (key.level === 'agent') needTerms(doors, c);
    const kept = name === null ? null : store.answers.get(key.id, name, now() - ANSWER_KEPT);
    if (kept !== null) {
      if (kept.request !== request) throw reused(name);
      return { status: kept.status as Outcome['status'], body: JSON.parse(kept.body) as Outcome['body'] };
    }
    const done = work(key);
    if (name !== null) {
      store.answers.put(key.id, name, { request, status: done.status, body: JSON.stringify(done.body) }, now());
    }
    return done;
  });
  return privateJson(c, { ...outcome.body, ...(await pressed(doors, c)) }, outcome.status);
}

/** Throws `terms_unsigned` while the paper has not signed the agreement that is in force. */
function needTerms({ shop }: Doors, c: PaperContext): void {
  const agreement = readAgreement(shop.settings);
  const { slug, root } = c.get('site');
  if (signatureOf(shop.store.terms, agreement, slug) !== null) return;
  throw new Fault(
    'terms_unsigned',
    `the paper’s operator has not signed version ${agreement.version} of the agreement; read ${root}/api/v1/agent/terms, and have it signed with an admin key at ${root}/api/v1/agent/terms/accept`,
  );
}

/** Whether the files that a write changed are on disk. */
async function pressed({ shop, presses, logger }: Doors, c: PaperContext): Promise<Record<string, unknown>> {
  const { slug, root } = c.get('site');
  const { manifest } = shop.store;
  const ticket = manifest.lastDue(slug);
  if (ticket === 0) return { pressed: true, files: 0 };
  const work = presses.press(slug).catch((error: unknown) => {
    logger.error({ request_id: c.get('requestId'), err: error }, 'the press failed; it is tried again');
    return undefined;
  });
  const report = await Promise.race([work, sleep(PRESS_WAIT, undefined, { ref: false })]);
  if (report === undefined) return { pressed: false, pressing: `${root}/api/v1/press/${ticket}` };
  return { pressed: true, files: report?.written ?? 0 };
}

function nameOf(c: PaperContext): string | null {
  const name = c.req.header('idempotency-key');
  if (name === undefined) return null;
  if (/^[\x20-\x7e]{1,255}$/.test(name)) return name;
  throw new Fault('invalid_request', 'Idempotency-Key must be 1 to 255 visible ASCII characters, such as a UUID', {
    field: 'Idempotency-Key',
  });
}

async function digestOf(c: PaperContext): Promise<string> {
  const hash = createHash('sha256').update(`${c.req.method} ${c.req.path}\n`);
  return hash.update(new Uint8Array(await c.req.arrayBuffer())).digest('hex');
}

function reused(name: string | null): Fault {
  return refused([
    {
      field: 'Idempotency-Key',
      rule: 'key_reused',
      message: `${JSON.stringify(name)} was the key of another request within 24 hours; give each write a key of its own`,
    },
  ]);
}
