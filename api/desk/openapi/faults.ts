import { limitInWords, ORDERS, READS } from '../../../src/shared/limits.ts';
import { COMMON_FAULTS, type Faults, KEY_REUSED } from '../../openapi/faults.ts';

const UNMARKED = '[^3] points at nothing; add entry 3 to cited_facts, or take the marker out';

/** Every fault of the API (protocol 8.5). */
export const FAULTS: Faults = {
  ...COMMON_FAULTS,
  invalid_request: [
    'a parameter or the body is malformed; `field` names it.',
    'limit: "many": must be a whole number from 1 to 200',
    { field: 'limit' },
  ],
  key_required: [
    'this route takes a key, and none was sent.',
    'this route takes a key of the paper; send it as `Authorization: Bearer <key>` or `X-NRF-Key: <key>`',
  ],
  key_invalid: [
    'the key is unknown or was revoked. A bad key is refused on every route.',
    'this key was revoked; ask the paper’s admin for another',
  ],
  key_expired: [
    'the key has expired.',
    'this key expired at 2026-11-30T00:00:00.000Z; ask the paper’s admin for another',
  ],
  wrong_paper: [
    'the key belongs to another paper.',
    'this key only works for the-harbor-ledger; use it under that paper’s path',
  ],
  level_too_low: [
    'the key’s level does not permit this route.',
    'this route takes an admin key, and yours is a read key',
  ],
  key_paused: [
    'an admin paused the key: it can read, but cannot write until it is resumed.',
    'this key was paused at 2026-11-20T06:30:00.000Z; it may read, and an admin of the paper resumes it',
  ],
  terms_unsigned: [
    'an agent’s key writes only once the paper has signed the agreement.',
    'the paper’s operator has not signed version 2026-11-21 of the agreement; have it signed with an admin key',
  ],
  not_found: [
    'no such paper, piece, day or route. A private paper looks exactly like one that does not exist.',
    'there is nothing at this address',
  ],
  conflict: [
    'the request conflicts with the current state: the slug is taken, or the revision was made from an older one.',
    'revision 2 is the newest, and this one was made from 1; read it again and send the change again',
  ],
  withdrawn: [
    'the piece was on air and was taken off.',
    'this piece was withdrawn on 2026-11-21: the document it rests on was a draft',
    { withdrawn_at: '2026-11-21T07:06:00.000Z', reason: 'the document it rests on was a draft' },
  ],
  too_large: [
    'the body is over 1 MiB, or a form over 16 KiB.',
    'the body is larger than 1048576 bytes (1 MiB); send less',
  ],
  refused_by_door: [
    'what was sent breaks the desk’s rules; `problems` has every one of them at once, or the first hundred and `problems_total` their number.',
    `prose: ${UNMARKED}`,
    { problems: [{ field: 'prose', rule: 'marker_without_entry', message: UNMARKED }] },
  ],
  idempotency_key_reused: KEY_REUSED,
  rate_limited: [
    `too many requests came from one address without a key; the limits are ${limitInWords(READS)} for reads and ${limitInWords(ORDERS)} for requests to subscribe.`,
    'more than 1200 requests in 60 seconds came from your address; try again in 12 seconds, or use a key',
  ],
  not_implemented: ['a format that is not offered.', 'format "yaml" is not offered; take json or xml'],
  unavailable: ['try again after `Retry-After` seconds.', 'this cannot be answered right now; try again soon'],
};
