import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** Deviations of an authenticator from what it was asked, for tests of refusals. */
interface Twist {
  origin?: string;
  rpId?: string;
  crossOrigin?: boolean;
  type?: string;
  isUserVerified?: boolean;
  counter?: number;
  userHandle?: string;
}

type Kind = 'ES256' | 'EdDSA' | 'RS256';

const sha256 = (bytes: Buffer | string): Buffer => createHash('sha256').update(bytes).digest();
const b64 = (bytes: Buffer | string): string => Buffer.from(bytes).toString('base64url');
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

/** A software authenticator with one passkey, whose messages are assembled byte by byte. */
export class Authenticator {
  readonly id = randomBytes(32);
  counter = 0;
  readonly #kind: Kind;
  readonly #privateKey: KeyObject;
  readonly #cose: Buffer;

  constructor(kind: Kind = 'ES256') {
    this.#kind = kind;
    const { privateKey, publicKey } =
      kind === 'ES256'
        ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
        : kind === 'EdDSA'
          ? generateKeyPairSync('ed25519')
          : generateKeyPairSync('rsa', { modulusLength: 2048 });
    this.#privateKey = privateKey;
    const jwk = publicKey.export({ format: 'jwk' }) as Record<'x' | 'y' | 'n', string>;
    const member = (name: 'x' | 'y' | 'n') => Buffer.from(jwk[name] ?? '', 'base64url');
    // COSE_Key (RFC 9052, section 7; RFC 9053): kty, alg, then the curve and its point, or the modulus and exponent.
    this.#cose =
      kind === 'ES256'
        ? Buffer.concat([hex('a5 0102 0326 2001 215820'), member('x'), hex('225820'), member('y')])
        : kind === 'EdDSA'
          ? Buffer.concat([hex('a4 0101 0327 2006 215820'), member('x')])
          : Buffer.concat([hex('a4 0103 03390100 20590100'), member('n'), hex('2143010001')]);
  }

  /** Answers the options of `navigator.credentials.create()`. */
  create(options: { challenge: string; rp: { id: string } }, origin: string, twist: Twist = {}): string {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.id.length);
    const attested = Buffer.concat([Buffer.alloc(16), length, this.id, this.#cose]);
    const authData = Buffer.concat([this.#head(options.rp.id, 0x41, twist), attested]);
    const size = Buffer.alloc(2);
    size.writeUInt16BE(authData.length);
    // {"fmt": "none", "attStmt": {}, "authData": bytes}
    const attestationObject = Buffer.concat([
      hex('a3 63666d74 646e6f6e65 6761747453746d74 a0 686175746844617461 59'),
      size,
      authData,
    ]);
    return this.#answer({
      clientDataJSON: this.#client('webauthn.create', options.challenge, origin, twist),
      attestationObject: b64(attestationObject),
      transports: ['internal'],
    });
  }

  /** Answers the options of `navigator.credentials.get()`. */
  get(options: { challenge: string; rpId: string }, origin: string, twist: Twist = {}): string {
    const authenticatorData = this.#head(options.rpId, 0x01, twist);
    const clientDataJSON = this.#client('webauthn.get', options.challenge, origin, twist);
    const message = Buffer.concat([authenticatorData, sha256(Buffer.from(clientDataJSON, 'base64url'))]);
    const signature = sign(this.#kind === 'EdDSA' ? null : 'sha256', message, this.#privateKey);
    const userHandle = twist.userHandle === undefined ? {} : { userHandle: b64(twist.userHandle) };
    return this.#answer({
      ...{ clientDataJSON, authenticatorData: b64(authenticatorData), signature: b64(signature) },
      ...userHandle,
    });
  }

  #answer(response: object): string {
    return JSON.stringify({ id: b64(this.id), type: 'public-key', response });
  }

  #client(type: string, challenge: string, origin: string, twist: Twist): string {
    const data = { type: twist.type ?? type, challenge, origin: twist.origin ?? origin };
    return b64(JSON.stringify({ ...data, crossOrigin: twist.crossOrigin ?? false }));
  }

  #head(rpId: string, flags: number, { rpId: other = rpId, isUserVerified = true, counter }: Twist): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter ?? this.counter);
    return Buffer.concat([sha256(other), Buffer.from([flags | (isUserVerified ? 0x04 : 0)]), count]);
  }
}
