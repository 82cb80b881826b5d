/** Checks one signature; false where the bytes are no signature of this kind at all. */
type VerifySignature = (
  signature: Uint8Array,
  message: Uint8Array,
  publicKey: Uint8Array,
) => boolean | Promise<boolean>;

/** What checking a log takes, from Node or from a browser. Either may answer at once or later. */
export interface LogCrypto {
  sha256(data: Uint8Array<ArrayBuffer>): Uint8Array | Promise<Uint8Array>;
  /** Ed25519 by the strict rules of RFC 8032. */
  ed25519: VerifySignature;
  /** ML-DSA-44 with an empty context (FIPS 204); null where the platform does not have it. */
  mldsa44: VerifySignature | null;
}
