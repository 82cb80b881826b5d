import type { LogCrypto } from '../../../proof/log/signatures.ts';
import { digest, ed25519Holds } from './crypto.ts';

/** The cryptography with which a browser verifies logs. WebCrypto has no ML-DSA-44 yet. */
export const LOG_CRYPTO: LogCrypto = { sha256: digest, ed25519: ed25519Holds, mldsa44: null };
