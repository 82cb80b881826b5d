import * as z from 'zod';
import { Fault } from '../../shared/fault.ts';

export const PAYMENT_HEADERS = { 1: 'X-PAYMENT', 2: 'PAYMENT-SIGNATURE' } as const;

type X402Version = keyof typeof PAYMENT_HEADERS;

/** The longest payment that is parsed, in characters: a smart wallet's signature takes a few thousand. */
const PAYMENT_MAX = 12_000;

const hex = (digits: string) =>
  z
    .string()
    .regex(new RegExp(`^0x[0-9a-fA-F]${digits}$`))
    .toLowerCase();
/** An unsigned integer of up to 256 bits, in decimal digits. */
const uint = z.string().regex(/^(?:0|[1-9]\d{0,77})$/);

/** An EIP-3009 authorization and its signature. Addresses and hashes become lower case. */
const Transfer = z.object({
  signature: z.string().regex(/^0x(?:[0-9a-fA-F]{2}){64,}$/),
  authorization: z.object({
    from: hex('{40}'),
    to: hex('{40}'),
    value: uint,
    validAfter: uint,
    validBefore: uint,
    nonce: hex('{64}'),
  }),
});

const Version1 = z.object({
  x402Version: z.literal(1),
  scheme: z.string().max(50),
  network: z.string().max(100),
  payload: Transfer,
});

const Accepted = z.object({
  scheme: z.string().max(50),
  network: z.string().max(100),
  amount: uint,
  asset: hex('{40}'),
  payTo: hex('{40}'),
});

const Version2 = z.object({ x402Version: z.literal(2), accepted: Accepted, payload: Transfer });

/** A payment as it was signed (protocol 9.5): an authorization to move `value` of a token from the payer. */
export interface Payment {
  version: X402Version;
  scheme: string;
  /** The chain as named in the payment: x402 version 1 and CAIP-2 use different names. */
  network: string;
  accepted: { amount: string; asset: string; payTo: string } | null;
  transfer: z.infer<typeof Transfer>;
}

/** Parses a payment header: JSON in base64. Throws `invalid_request`. */
export function decodePayment(text: string, version: X402Version): Payment {
  const field = PAYMENT_HEADERS[version];
  const no = (why: string) => new Fault('invalid_request', `${field}: ${why}; nothing was charged`, { field });
  if (text.length > PAYMENT_MAX) throw no(`must be at most ${PAYMENT_MAX} characters, and this has ${text.length}`);
  // Two headers of one name arrive as one with a comma, which base64 does not have.
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) throw no('must be one header of base64');
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'base64')));
  } catch {
    throw no('must be base64 of JSON');
  }
  return paymentFrom(value, version);
}

/** Parses a payment's JSON, from a header or a tool call. Throws `invalid_request`. */
function paymentFrom(value: unknown, version: X402Version): Payment {
  const field = PAYMENT_HEADERS[version];
  const read = version === 1 ? Version1.safeParse(value) : Version2.safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    const where = issue?.path.join('.') || 'it';
    const message = `${field}: ${where} is missing or malformed; send the payload of x402 version ${version}, scheme exact, with an EIP-3009 authorization. Nothing was charged`;
    throw new Fault('invalid_request', message, { field });
  }
  const { data } = read;
  if (data.x402Version === 1) {
    return { version: 1, scheme: data.scheme, network: data.network, accepted: null, transfer: data.payload };
  }
  const { scheme, network, amount, asset, payTo } = data.accepted;
  return { version: 2, scheme, network, accepted: { amount, asset, payTo }, transfer: data.payload };
}

/** Why a payment is rejected, in words. */
export const REASONS = {
  wrong_scheme: 'only the scheme exact is accepted here',
  wrong_network: 'it is for another network than the one in accepts',
  wrong_asset: 'it is in another token than the one in accepts',
  wrong_payee: 'it pays another address than payTo in accepts',
  wrong_amount: 'it is of another amount than the one in accepts',
  not_yet_valid: 'its validAfter is in the future',
  expired: 'its validBefore has passed',
  bad_signature: 'its signature is not the payer’s, or not under the EIP-712 domain in extra',
  insufficient_funds: 'the payer’s balance does not cover it',
  already_spent: 'its authorization was used or cancelled on the chain without paying for this',
  transfer_failed: 'the chain did not execute it',
  refused: 'the facilitator rejected it',
};
export type Reason = keyof typeof REASONS;

const CODES: readonly [RegExp, Reason][] = [
  [/^(?:insufficient_funds|invalid_exact_evm_insufficient_balance)$/, 'insufficient_funds'],
  [/^invalid_exact_evm_(?:payload_signature|signature|failed_to_parse_signature)$/, 'bad_signature'],
  [/^invalid_exact_evm_token_(?:name|version)_mismatch$/, 'bad_signature'],
  [/^(?:payment_expired|invalid_exact_evm_payload_authorization_valid_before)$/, 'expired'],
  [/^invalid_exact_evm_payload_authorization_valid_after$/, 'not_yet_valid'],
  [/^invalid_exact_evm_(?:payload_authorization_value|payload_authorization_value_mismatch)$/, 'wrong_amount'],
  [/^invalid_exact_evm_(?:payload_recipient_mismatch|recipient_mismatch)$/, 'wrong_payee'],
  [/^(?:invalid_network|invalid_exact_evm_network_mismatch)$/, 'wrong_network'],
  [/^invalid_exact_evm_nonce_already_used$/, 'already_spent'],
  [/^(?:invalid_transaction_state|invalid_exact_evm_transaction_failed)$/, 'transfer_failed'],
];

/** The reason for a facilitator's code; null for an unknown one. A facilitator's own text is never passed on. */
export function reasonOf(code: string): Reason | null {
  return CODES.find(([pattern]) => pattern.test(code))?.[1] ?? null;
}
