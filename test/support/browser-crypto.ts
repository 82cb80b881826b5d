import { verifyAsync } from '@noble/ed25519';
import type { LogCrypto } from '../../src/ledger/log/log-crypto.ts';
import { isPrimeOrder } from '../../src/ledger/prime-order.ts';

/**
 * The cryptography with which a browser verifies logs: WebCrypto's hashes and noble. The test says whether it supports
 * ML-DSA-44.
 */
export function browserCrypto(mldsa44: LogCrypto['mldsa44']): LogCrypto {
  return {
    sha256: async (data) => new Uint8Array(await crypto.subtle.digest('SHA-256', data)),
    ed25519: async (signature, message, publicKey) => {
      if (!isPrimeOrder(publicKey) || !isPrimeOrder(signature.subarray(0, 32))) return false;
      return verifyAsync(signature, message, publicKey, { zip215: false }).catch(() => false);
    },
    mldsa44,
  };
}
