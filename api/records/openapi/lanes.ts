import type { Access } from '../../../src/meter/lane.ts';
import type { FaultStatus } from '../../openapi/faults.ts';
import { HEADERS_OF } from './headers.ts';

type Way = Record<string, string[]>;

/** What the document says of a kind of door. */
interface AccessWords {
  words: string;
  /** Each way in: nothing, a key (of the levels named), a payment. */
  ways: Way[];
  /** Statuses that the lanes add to those of the door. */
  faults: FaultStatus[];
  /** Headers of good answers. */
  headers: Record<string, string>;
}

const key = (...levels: string[]): Way => ({ key: levels });
const PAYMENTS: Way[] = [{ payment: [] }, { paymentV2: [] }];

/** The kinds of doors in words, as OpenAPI has them (spec, "Endpoints"). */
export const ACCESS_WORDS: Record<Access, AccessWords> = {
  public: { words: 'Open to all, and not metered.', ways: [{}, key()], faults: [], headers: {} },
  lookup: {
    words:
      'Keyless: a preview, one request in 15 seconds from an address. Keyed: one unit. Or paid by the call (x402).',
    ways: [{}, key('account', 'service', 'operator'), ...PAYMENTS],
    faults: [402, 409],
    headers: { ...HEADERS_OF.keyless, ...HEADERS_OF.meter, ...HEADERS_OF.paid },
  },
  read: {
    words: 'Takes a key of an account, for one unit, or a payment by the call (x402).',
    ways: [key('account', 'service', 'operator'), ...PAYMENTS],
    faults: [402, 409],
    headers: { ...HEADERS_OF.meter, ...HEADERS_OF.paid },
  },
  export: {
    words: 'Takes a key of an account, for one unit. Payments are not taken.',
    ways: [key('account', 'service', 'operator')],
    faults: [402],
    headers: HEADERS_OF.meter,
  },
  usage: { words: 'Takes a key of an account, and is not metered.', ways: [key('account')], faults: [], headers: {} },
  queue: {
    words: 'Takes a scanner’s key, or an operator’s.',
    ways: [key('scanner', 'operator')],
    faults: [],
    headers: {},
  },
  operator: { words: 'Takes an operator’s key.', ways: [key('operator')], faults: [], headers: {} },
};
