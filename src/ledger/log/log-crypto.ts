/** Verifies one signature; false for bytes that are not a signature of this kind. */
type VerifySignature = (
  signature: Uint8Array,
  message: Uint8Array,
  publicKey: Uint8Array,
) => boolean | Promise<boolean>;

/** The cryptography for verifying a log, from Node or from a browser. Either may be synchronous or asynchronous. */
export interface LogCrypto {
  sha256(data: Uint8Array<ArrayBuffer>): Uint8Array | Promise<Uint8Array>;
  /** Ed25519 by the strict rules of RFC 8032. */
  ed25519: VerifySignature;
  /** ML-DSA-44 with an empty context (FIPS 204); null if the platform does not support it. */
  mldsa44: VerifySignature | null;
}
