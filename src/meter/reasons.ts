/** Why a payment was rejected. */
export type Reason =
  | 'wrong_scheme'
  | 'wrong_network'
  | 'wrong_asset'
  | 'wrong_payee'
  | 'wrong_amount'
  | 'not_yet_valid'
  | 'expired'
  | 'bad_signature'
  | 'insufficient_funds'
  | 'already_spent'
  | 'transfer_failed'
  | 'refused';

/** The reasons in words, for payers. */
export const REASONS: Record<Reason, string> = {
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

/** Maps the facilitators' x402 codes to reasons. */
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
