import type { Access } from '../../../src/meter/lane.ts';
import type { Operation } from '../../openapi/document.ts';
import type { FaultStatus } from '../../openapi/faults.ts';
import { HEADERS_OF } from './headers.ts';

type Way = Record<string, string[]>;

/** The document's description of an access level. */
interface AccessWords {
  words: string;
  /** The alternatives: nothing, a key of one of these levels, a payment. */
  ways: Way[];
  /** Statuses that the lane adds to those of the route. */
  faults: FaultStatus[];
  /** Headers of successful responses. */
  headers: Record<string, string>;
}

const keys = (...levels: string[]): Way[] => [{ bearer: levels }, { key: levels }];
const PAYMENTS: Way[] = [{ payment: [] }, { paymentV2: [] }];

/** Every access in words, and as OpenAPI security requirements (protocol 9.2). */
export const ACCESS_WORDS: Record<Access, AccessWords> = {
  public: { words: 'Open to everyone and not metered.', ways: [{}, ...keys()], faults: [], headers: {} },
  lookup: {
    words:
      'Keyless: a preview, one request every 15 seconds per address. Keyed: one unit. Or paid per call (x402): `pay=1` or `Prefer: payment` asks for the price.',
    ways: [{}, ...keys('account', 'service', 'operator'), ...PAYMENTS],
    faults: [402, 409],
    headers: { ...HEADERS_OF.keyless, ...HEADERS_OF.meter, ...HEADERS_OF.paid, 'PAYMENT-REQUIRED': 'PaymentRequired' },
  },
  read: {
    words: 'Takes a key of an account, for one unit, or a payment per call (x402).',
    ways: [...keys('account', 'service', 'operator'), ...PAYMENTS],
    faults: [402, 409],
    headers: { ...HEADERS_OF.meter, ...HEADERS_OF.paid },
  },
  export: {
    words: 'Takes a key of an account, for one unit. Payments are not accepted.',
    ways: keys('account', 'service', 'operator'),
    faults: [402],
    headers: HEADERS_OF.meter,
  },
  usage: { words: 'Takes a key of an account and is not metered.', ways: keys('account'), faults: [], headers: {} },
  queue: {
    words: 'Takes a scanner’s or an operator’s key.',
    ways: keys('scanner', 'operator'),
    faults: [],
    headers: {},
  },
  operator: { words: 'Takes an operator’s key.', ways: keys('operator'), faults: [], headers: {} },
};

/** Who may call an operation of the document. */
export function accessOf(operation: Operation): Access {
  return operation['x-access'] as Access;
}
