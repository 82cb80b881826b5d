import { ASKS, limitInWords, READS, REFUSED_PAYMENTS } from '../../../src/shared/limits.ts';
import { COMMON_FAULTS, type Faults, KEY_REUSED } from '../../openapi/faults.ts';

/** Every fault of the domain records (protocol 8.5): when it occurs, and an example of its message. */
export const FAULTS: Faults = {
  ...COMMON_FAULTS,
  invalid_request: [
    'a parameter, a header or the body is malformed; `field` names it.',
    'since: "yesterday": must be a day or a time of the calendar, as in 2026-11-20 or 2026-11-20T09:30:00Z',
    { field: 'since' },
  ],
  key_required: [
    'the route takes a key, and none was sent.',
    'this route takes a key; send it as `Authorization: Bearer <key>` or `X-Service-Key: <key>`. An account makes them at its page',
  ],
  key_invalid: [
    'the key is unknown or revoked. A bad key is never ignored and never falls back to another lane.',
    'this key was revoked; make another on your account’s page',
  ],
  key_expired: [
    'the key has expired.',
    'this key expired at 2026-11-30T00:00:00.000Z; make another on your account’s page',
  ],
  payment_required: [
    'neither a key nor a payment was sent (for the lookup of one domain: with `pay=1` or `Prefer: payment`), or the payment was rejected. The body is the x402 version 1 price menu, and `PAYMENT-REQUIRED` the version 2 one. `accepts` is empty where payments are not accepted, and `reason` says why: `payments_closed`, or `node_missing` for credits where the service has no node of the chain. For a rejected payment, `reason` says what is wrong with it. `plans` lists the plans on sale, if there are any.',
    'this read takes a key: send a key of an account as X-Service-Key',
  ],
  allowance_exhausted: [
    'the account’s included requests and its credits are spent. `axes` lists what is empty: `daily` or `monthly` for the plan’s included requests, and `credits`; or `exports` alone. `axis` is the one to fix: `credits` for an account that ever had some, otherwise the plan’s. `top_up` is where to buy more, `resets_at` when requests are included again; `plans` lists the plans on sale, if there are any.',
    'the requests that your plan includes for today are spent, and your account has no credits; top up, or wait until the reset',
  ],
  level_too_low: [
    'the level of the key does not permit this route.',
    'this route is the operators’, and your key is an account key',
  ],
  export_needs_account: [
    'a payment for an export; exports take a key of an account. Nothing was charged.',
    'exports are not sold by the call; they take a key of an account. Nothing was charged',
  ],
  not_watched: ['the hostname is not watched.', 'example.net is not under watch'],
  other_node: [
    'the hostname belongs to another node, whose address is `node`. Reads of a hostname are referred there with 307.',
    'example.net belongs to node b of these records; send this to https://b.records.example',
    { node: 'https://b.records.example' },
  ],
  not_observed: [
    'the hostname is watched but was not observed yet, or not by the requested time.',
    'example.com is under watch and was not observed yet; ask again in some minutes',
  ],
  not_found: ['the hostname opted out, or there is no such address.', 'nothing is shown of example.org: it opted out'],
  conflict: [
    'the request conflicts with the current state. For a payment, `reason` says how: `other_request` (it was for another request), `other_payment` (its nonce was used by another authorization or signature), `answer_gone` (its response is no longer kept), `repeated` (its response was repeated as often as allowed).',
    'this payment is for another request: a payment buys one answer. Sign a new one for this',
  ],
  ahead_of_stream: [
    '`Last-Event-ID`, `since_seq` or a cursor of `order=oldest` is ahead of the newest change, whose number is `newest`: the service was restored from a backup since. Read the changes since then, and go on from `newest`. Nothing was charged.',
    'last-event-id: 1200 is ahead of the stream, whose newest change is 1180',
    { newest: 1_180 },
  ],
  too_large: ['the body is too large.', 'the body is larger than 1048576 bytes (1 MiB); send less'],
  idempotency_key_reused: KEY_REUSED,
  throttled: [
    'without a key, one address may send one request every 15 seconds. `page` is the public page of the hostname, which shows the same preview and counts as a read. `offer` says what the full answer costs, where payments are accepted.',
    'without a key, one address may send one request every 15 seconds; try again in 9 seconds, sign in for a key, or read its public page',
  ],
  rate_limited: [
    `the key used its requests of this minute, or an address without a key sent more than ${limitInWords(READS)} public requests, ${limitInWords(ASKS)} requests for sign-in links, or ${limitInWords(REFUSED_PAYMENTS)} rejected payments.`,
    'this key used its 100 requests of this minute; try again in 9 seconds. Nothing was charged',
  ],
  unavailable: [
    'retry after `Retry-After` seconds, with the same payment if there was one: it is not charged twice. The `reason` of a payment is `busy`, `down`, `unknown`, or `unproven`: its nonce is used, and the service has no node of the chain to see whether it paid. An earlier observation gets it while the archive cannot be read: nothing is charged, and no list is shorter.',
    'this cannot be answered right now; try again soon',
  ],
};
