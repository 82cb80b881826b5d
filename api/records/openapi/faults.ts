import { ASKS, limitInWords, READS, REFUSED_PAYMENTS } from '../../../src/limits.ts';
import type { FaultAnswer, FaultStatus } from '../../openapi/faults.ts';
import { COMMON_FAULTS, KEY_REUSED } from '../../openapi/faults.ts';

/** Every fault as the domain records answer it (wire.md, sections 2 and 5). */
export const FAULTS: Partial<Record<FaultStatus, FaultAnswer>> = {
  ...COMMON_FAULTS,
  400: {
    codes: {
      invalid_request: [
        'a parameter, a header or the body is malformed; `field` names it.',
        'since: "yesterday": must be a day or a time of the calendar, as in 2026-11-20 or 2026-11-20T09:30:00Z',
      ],
    },
    more: { field: 'since' },
  },
  401: {
    codes: {
      key_required: [
        'this route takes a key, and none came.',
        'this route takes a key; send it as X-Service-Key: <key>. An account makes them at its page',
      ],
      key_invalid: [
        'the key is unknown or was revoked. A bad key is never ignored, and never falls back to another lane.',
        'X-Service-Key: this key was revoked; make another on your account’s page',
      ],
      key_expired: [
        'the key has ended, as it was made to.',
        'X-Service-Key: this key ended at 2026-11-30T00:00:00.000Z; make another on your account’s page',
      ],
    },
    headers: { 'WWW-Authenticate': 'Challenge' },
  },
  402: {
    codes: {
      payment_required: [
        'neither a key nor a payment came, or the payment was not taken: the body is the price menu, of x402 version 1, and `PAYMENT-REQUIRED` the same of version 2. `accepts` is empty where payments are not taken, and `reason` says why: `payments_closed`, or `node_missing` for credits where the service has no node of the chain. Of a payment that was not taken, `reason` says what is wrong with it.',
        'this read takes a key: send a key of an account as X-Service-Key',
      ],
      allowance_exhausted: [
        'the account’s included requests and its credits are spent. `axes` lists what is empty: `daily` or `monthly`, which of the plan’s included requests, and `credits`. `axis` is the one to mend: `credits` for an account that ever had some, else the included one. `top_up` is where to have more, `resets_at` when requests are included again.',
        'the requests that your plan includes for today are spent, and your account has no credits; top up, or wait until the reset',
      ],
    },
    headers: { 'PAYMENT-REQUIRED': 'PaymentRequired' },
  },
  403: {
    codes: {
      level_too_low: [
        'the key’s level does not reach this route.',
        'this route is the operators’, and your key is an account key',
      ],
      export_needs_account: [
        'a payment for an export: exports take a key of an account. Nothing was charged.',
        'exports are not sold by the call; they take a key of an account. Nothing was charged',
      ],
    },
  },
  404: {
    codes: {
      not_watched: ['the hostname is not under watch.', 'example.net is not under watch'],
      not_observed: [
        'the hostname is under watch but was not observed yet, or not by the time asked for.',
        'example.com is under watch but was not observed yet; ask again in a few minutes',
      ],
      not_found: ['a hostname that opted out, or no such address.', 'nothing is shown about example.org: it opted out'],
    },
  },
  409: {
    codes: {
      conflict: [
        'what is asked does not fit what is there by now; of a payment, `reason` says what: `other_request` (it was for another request), `other_payment` (its nonce was paid by another authorization or signature), `answer_gone` (its answer is no longer kept), `repeated` (its answer was given out again as often as may be).',
        'this payment is for another request: a payment buys one answer. Sign a new one for this',
      ],
    },
  },
  413: {
    codes: { too_large: ['the body is too large.', 'the body is larger than 1048576 bytes (1 MiB); send less'] },
  },
  422: { codes: { idempotency_key_reused: KEY_REUSED } },
  429: {
    codes: {
      throttled: [
        'without a key it is one request in 15 seconds from one address.',
        'without a key it is one request every 15 seconds from one address; try again in 9 seconds, or sign in for a key',
      ],
      rate_limited: [
        `the key made its requests of this minute, or one address too many without a key: more than ${limitInWords(READS)} to public doors, ${limitInWords(ASKS)} for links to sign in, or ${limitInWords(REFUSED_PAYMENTS)} payments that bought nothing.`,
        'this key made its 100 requests of this minute; try again in 9 seconds. Nothing was charged',
      ],
    },
    headers: { 'Retry-After': 'RetryAfter' },
  },
  503: {
    codes: {
      unavailable: [
        'try again after `Retry-After` seconds; with a payment, send the same payment: it is not charged twice. Its `reason` is `busy`, `down`, `unknown`, or `unproven`: its nonce is used, and the service has no node of the chain to see whether it paid.',
        'this cannot be answered just now; try again soon',
      ],
    },
    headers: { 'Retry-After': 'RetryAfter' },
  },
};
