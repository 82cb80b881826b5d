import type { Context, MiddlewareHandler } from 'hono';
import { createMiddleware } from 'hono/factory';
import { type ServiceKey, type ServiceKeyTable, serviceKeyOf } from '../../src/records/accounts/service-key.ts';
import { type Access, type Lane, laneOf } from '../../src/records/meter/lane.ts';
import { Fault } from '../../src/shared/fault.ts';
import type { RecordsEnv } from '../env.ts';
import { addVary } from '../responses/headers.ts';
import { sentKey } from './key.ts';
import type { KeyUses } from './key-uses.ts';

/** A quoted string (RFC 9110, section 5.6.4), which may contain any of the delimiters. */
const QUOTED = /"(?:[^"\\]|\\.)*"?/gs;
/** The preference without a value, or with an empty one, which means the same (RFC 7240, section 2). */
const PAYMENT = /^payment *(?:= *)?$/i;

/** Whether a `Prefer` header asks to pay for the answer. Other preferences are ignored. */
export function prefersPayment(header: string | undefined): boolean {
  if (header === undefined) return false;
  const plain = header.replaceAll(QUOTED, (text) => (text === '""' ? '' : 'quoted'));
  return plain.split(',').some((preference) => PAYMENT.test((preference.split(';')[0] ?? '').trim()));
}

type Middleware = MiddlewareHandler<RecordsEnv>;

/** The middleware of each lane. A lane without one admits every request. */
export type LaneHandlers = Partial<Record<Lane, Middleware>>;

export interface LaneOptions {
  keys: ServiceKeyTable;
  uses: KeyUses;
  now(): number;
  /** The page where keys are made, for error messages. */
  signInUrl: string;
  handlers: LaneHandlers;
}

/** Headers that carry a payment, of x402 versions 1 and 2. */
const PAYMENTS = ['x-payment', 'payment-signature'];

/** Determines the lane of a request and runs its middleware. Throws if the key is refused, or what the lane throws. */
export function laneMiddleware({ keys, uses, now, signInUrl, handlers }: LaneOptions): (access: Access) => Middleware {
  return (access) =>
    createMiddleware<RecordsEnv>((c, next) => {
      const key = keyOfRequest(keys, c, now());
      const payment = PAYMENTS.some((name) => c.req.header(name) !== undefined);
      const asksToPay = c.req.query('pay') === '1' || prefersPayment(c.req.header('prefer'));
      if (access === 'lookup' && key === null) addVary(c, 'Prefer');
      const decision = laneOf({ key: key?.level ?? 'none', payment, asksToPay }, access);
      if ('refused' in decision) throw refusal(decision.refused, { access, key, signInUrl });
      if (key !== null) uses.note(key.id, now());
      c.set('key', key);
      c.set('lane', decision.lane);
      return (handlers[decision.lane] ?? passOn)(c, next);
    });
}

const passOn: Middleware = (_, next) => next();

/** The key of a request, or null. Throws `key_invalid`, `key_expired`. */
function keyOfRequest(keys: ServiceKeyTable, c: Context, now: number): ServiceKey | null {
  const text = sentKey((name) => keyHeader(c, name), 'X-Service-Key');
  return text === null ? null : serviceKeyOf(keys, text, now);
}

/** A header that may carry a key. Credentials for a proxy in front of the service do not count. */
function keyHeader(c: Context, name: string): string | undefined {
  const value = c.req.header(name);
  return name === 'authorization' && /^Basic /i.test(value ?? '') ? undefined : value;
}

function refusal(
  code: 'key_invalid' | 'key_required' | 'level_too_low' | 'export_needs_account',
  { access, key, signInUrl }: { access: Access; key: ServiceKey | null; signInUrl: string },
): Fault {
  const more = access === 'operator' || access === 'queue' ? {} : { sign_in_url: signInUrl };
  const level = key?.level ?? '';
  const words = {
    key_invalid: 'this key is not valid: it is unknown, or was revoked',
    key_required: `this route takes a key; send it as \`Authorization: Bearer <key>\` or \`X-Service-Key: <key>\`${
      access === 'operator' || access === 'queue'
        ? '. Its operator makes them'
        : `. An account makes them at ${signInUrl}`
    }`,
    level_too_low:
      level === 'scanner'
        ? 'a scanner’s key only gives access to the queue'
        : access === 'usage'
          ? `this route is for an account’s own key, and your ${level} key belongs to no account`
          : `this route is the operators’, and your key is ${level === 'account' ? 'an account' : `a ${level}`} key`,
    export_needs_account: `exports are not sold by the call; they take a key of an account, made at ${signInUrl}. Nothing was charged`,
  }[code];
  return new Fault(code, words, more);
}
