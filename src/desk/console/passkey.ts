import { createHash, createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import {
  type AuthenticatorData,
  ClientDataType,
  COSEKeyType,
  type COSEPublicKey,
  createAssertionSignatureMessage,
  parseAttestationObject,
  parseAuthenticatorData,
  parseClientDataJSON,
} from '@oslojs/webauthn';
import * as z from 'zod';
import { MINUTE } from '../../proof/time.ts';
import { Fault, messageOf } from '../../shared/fault.ts';
import { type AccessKey, type KeyTable, requireActive } from '../papers/keys.ts';

// Passkeys: credentials of the Web Authentication API (W3C WebAuthn, level 3). Comments cite its sections.

/** The requested algorithms, in order of preference, with their numbers in the IANA COSE registry. */
const ALGORITHMS = { EdDSA: -8, ES256: -7, RS256: -257 } as const;
export type Algorithm = keyof typeof ALGORITHMS;
export const ALGORITHM_NAMES = Object.keys(ALGORITHMS) as [Algorithm, ...Algorithm[]];

/** A passkey of a seat. Times in ms. */
export interface Passkey {
  /** The id of the credential, in base64url. */
  id: string;
  paper: string;
  /** Id of the key that it signs in. */
  key: string;
  /** The relying party: the host on which it was made, and the only one on which it signs in. */
  host: string;
  name: string;
  algorithm: Algorithm;
  /** SubjectPublicKeyInfo, in base64url. */
  public_key: string;
  /** The signature counter that the authenticator last reported; 0 if it does not count. */
  counter: number;
  transports: string[];
  made_at: number;
  used_at: number | null;
}

export interface PasskeyTable {
  /** Returns false when a passkey with this id exists. */
  insert(passkey: Passkey): boolean;
  byId(id: string): Passkey | null;
  /** The passkeys of a key, oldest first. */
  ofKey(key: string): Passkey[];
  /** Records a use. Returns false when the counter did not grow, unless the authenticator does not count. */
  advance(id: string, counter: number, at: number): boolean;
  rename(key: string, id: string, name: string): boolean;
  remove(key: string, id: string): boolean;
}

/** A challenge that no passkey has answered yet. */
export interface Challenge {
  paper: string;
  origin: string;
  /** The session that adds a passkey; null for signing in. */
  session: string | null;
  /** In ms. */
  expires_at: number;
}

export interface ChallengeTable {
  insert(challenge: Challenge, hash: string): void;
  /** Removes a challenge and returns it, so that it can be answered only once. */
  take(hash: string): Challenge | null;
  /** Deletes challenges that expired at or before a time. */
  forget(until: number): void;
}

const CHALLENGE_LIFETIME = 5 * MINUTE;
/** 256 bits. */
const CHALLENGE_BYTES = 32;
/** Maximum number of passkeys of a seat. */
const PASSKEYS_MAX = 20;
export const PASSKEY_NAME_MAX = 60;

/** The page that requests a passkey: its paper, its origin, and the session that adds a passkey. */
type Asking = Pick<Challenge, 'paper' | 'origin' | 'session'>;

/** Stores a challenge, and returns it in base64url. */
export function newChallenge(
  challenges: ChallengeTable,
  asking: Asking,
  { now, random }: { now: number; random(n: number): Uint8Array },
): string {
  const challenge = Buffer.from(random(CHALLENGE_BYTES));
  challenges.forget(now);
  challenges.insert({ ...asking, expires_at: now + CHALLENGE_LIFETIME }, hashOf(challenge));
  return challenge.toString('base64url');
}

/** Whether a host can have passkeys: they are bound to a domain, and browsers only allow them in secure contexts. */
export function canHavePasskeys(origin: string): boolean {
  const { protocol, hostname } = new URL(origin);
  const isNamed = !/^[\d.]+$/.test(hostname) && !hostname.startsWith('[');
  return isNamed && (protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost'));
}

export const hostOf = (origin: string): string => new URL(origin).hostname;

/** Options of `navigator.credentials.create()`, in JSON (section 5.1.9). */
export function creationOptions(
  { key, name, nameplate, known }: { key: AccessKey; name: string; nameplate: string; known: readonly Passkey[] },
  origin: string,
  challenge: string,
) {
  return {
    challenge,
    rp: { id: hostOf(origin), name: `${nameplate} (console)` },
    user: { id: Buffer.from(key.id).toString('base64url'), name, displayName: name },
    pubKeyCredParams: Object.values(ALGORITHMS).map((alg) => ({ type: 'public-key', alg })),
    timeout: CHALLENGE_LIFETIME,
    excludeCredentials: known.map(({ id, transports }) => ({ type: 'public-key', id, transports })),
    // Discoverable, so that signing in requires no name.
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    attestation: 'none',
  };
}

/** Options of `navigator.credentials.get()`, in JSON (section 5.1.9). */
export function requestOptions(origin: string, challenge: string) {
  return { challenge, rpId: hostOf(origin), timeout: CHALLENGE_LIFETIME, userVerification: 'required' };
}

const base64url = (most: number) =>
  z
    .string()
    .regex(/^[\w-]+$/)
    .max(most);

/** Credential ids have at most 1,023 bytes (section 6.5.1). */
const credential = { id: base64url(1_364), type: z.literal('public-key') };
const clientDataJSON = base64url(4_096);
const Created = z.object({
  ...credential,
  response: z.object({
    clientDataJSON,
    attestationObject: base64url(10_000),
    transports: z.array(z.string().max(20)).max(10).catch([]),
  }),
});
const Asserted = z.object({
  ...credential,
  response: z.object({
    clientDataJSON,
    authenticatorData: base64url(2_048),
    signature: base64url(2_048),
    userHandle: base64url(100).nullish().catch(null),
  }),
});

interface Verifier {
  passkeys: PasskeyTable;
  challenges: ChallengeTable;
  now(): number;
}

/**
 * The passkey that a browser made for a key (section 7.1); `addPasskey` stores it. The make of the authenticator does
 * not matter, so attestations are ignored. Uses up the challenge in any case. Throws `invalid_request`.
 */
export function newPasskey(
  { challenges, now }: Omit<Verifier, 'passkeys'>,
  asking: Asking,
  { key, name, sent }: { key: AccessKey; name: string; sent: string },
): Passkey {
  const { id, response } = parsed(Created, sent);
  const host = hostOf(asking.origin);
  const data = readable(() => parseAttestationObject(decoded(response.attestationObject)).authenticatorData);
  requireClient(response.clientDataJSON, ClientDataType.Create, { challenges, now: now() }, asking);
  requireUser(data, host);
  const made = data.credential;
  if (made === null || Buffer.from(made.id).toString('base64url') !== id) throw refused('it names no credential');
  const { algorithm, public_key } = readable(() => keyFrom(made.publicKey));
  return {
    ...{ id, paper: asking.paper, key: key.id, host, name, algorithm, public_key },
    ...{ counter: data.signatureCounter, transports: response.transports, made_at: now(), used_at: null },
  };
}

/** Adds a passkey. Throws `conflict`. */
export function addPasskey(passkeys: PasskeyTable, passkey: Passkey): void {
  if (passkeys.ofKey(passkey.key).length >= PASSKEYS_MAX) {
    throw new Fault('conflict', `this seat has ${PASSKEYS_MAX} passkeys, which is the maximum; remove one first`);
  }
  if (!passkeys.insert(passkey)) throw new Fault('conflict', 'this passkey is registered already');
}

/**
 * Verifies a browser's response (section 7.2) and returns the key that the passkey signs in. Throws `key_invalid`,
 * `key_expired`, `invalid_request`.
 */
export function passkeySeat(
  { passkeys, challenges, keys, now }: Verifier & { keys: KeyTable },
  asking: Asking,
  sent: string,
): AccessKey {
  const { id, response } = parsed(Asserted, sent);
  const authenticatorData = decoded(response.authenticatorData);
  const data = readable(() => parseAuthenticatorData(authenticatorData));
  requireClient(response.clientDataJSON, ClientDataType.Get, { challenges, now: now() }, asking);
  const passkey = passkeys.byId(id);
  if (passkey === null || passkey.paper !== asking.paper || passkey.host !== hostOf(asking.origin)) {
    throw new Fault('key_invalid', 'this passkey belongs to no seat here; choose another, or sign in another way');
  }
  requireUser(data, passkey.host);
  if (response.userHandle != null && Buffer.from(response.userHandle, 'base64url').toString() !== passkey.key) {
    throw refused('it was made for another seat');
  }
  const message = createAssertionSignatureMessage(authenticatorData, decoded(response.clientDataJSON));
  if (!isSignedBy(passkey, message, decoded(response.signature))) throw refused('its signature does not match');
  const key = requireActive(keys, keys.byId(passkey.key), now());
  if (!passkeys.advance(id, data.signatureCounter, now())) {
    throw new Fault(
      'key_invalid',
      `the counter of the passkey ${JSON.stringify(passkey.name)} went back, so it may have been copied; sign in another way and remove it`,
    );
  }
  return key;
}

/** Checks the browser's data about the requesting page (sections 7.1 and 7.2: type, challenge, origin). */
function requireClient(
  sent: string,
  type: ClientDataType,
  { challenges, now }: { challenges: ChallengeTable; now: number },
  asking: Asking,
): void {
  const client = readable(() => parseClientDataJSON(decoded(sent)));
  // Taken first, so that a rejected response uses up its challenge too.
  const challenge = challenges.take(hashOf(client.challenge));
  if (challenge === null || challenge.expires_at <= now) {
    throw new Fault('invalid_request', 'this took longer than five minutes, or was sent before; try again');
  }
  const isOurs =
    challenge.paper === asking.paper && challenge.origin === asking.origin && challenge.session === asking.session;
  if (!isOurs || client.type !== type || client.origin !== asking.origin || client.crossOrigin === true) {
    throw refused('it was made for another page');
  }
}

/** Requires presence and verification: a passkey is the only factor, so having the device must not be enough. */
function requireUser(data: AuthenticatorData, host: string): void {
  if (!data.verifyRelyingPartyIdHash(host)) throw refused('it was made for another host');
  if (!data.userPresent || !data.userVerified) {
    throw refused('the device did not check who you are; set a PIN or a screen lock on it');
  }
}

/** The public key of a new credential. Throws for algorithms other than `ALGORITHMS`. */
function keyFrom(cose: COSEPublicKey): Pick<Passkey, 'algorithm' | 'public_key'> {
  const algorithm = ALGORITHM_NAMES.find((name) => ALGORITHMS[name] === cose.algorithm());
  if (algorithm === undefined) throw new Error(`unknown algorithm ${cose.algorithm()}`);
  const public_key = createPublicKey({ key: jwkOf(cose), format: 'jwk' }).export({ type: 'spki', format: 'der' });
  return { algorithm, public_key: public_key.toString('base64url') };
}

function jwkOf(cose: COSEPublicKey): JsonWebKey {
  switch (cose.type()) {
    case COSEKeyType.EC2: {
      const { x, y } = cose.ec2();
      return { kty: 'EC', crv: 'P-256', x: bytesOf(x, 32), y: bytesOf(y, 32) };
    }
    case COSEKeyType.RSA: {
      const { n, e } = cose.rsa();
      return { kty: 'RSA', n: bytesOf(n, 256), e: bytesOf(BigInt(e), 3) };
    }
    default:
      return { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(cose.okp().x).toString('base64url') };
  }
}

const bytesOf = (value: bigint, length: number): string =>
  Buffer.from(value.toString(16).padStart(length * 2, '0'), 'hex').toString('base64url');

/** ECDSA signatures are in ASN.1 DER (section 6.5.5), which is Node's default. */
function isSignedBy({ algorithm, public_key }: Passkey, message: Uint8Array, signature: Uint8Array): boolean {
  const key = createPublicKey({ key: Buffer.from(public_key, 'base64url'), type: 'spki', format: 'der' });
  return verify(algorithm === 'EdDSA' ? null : 'sha256', message, key, signature);
}

function parsed<T extends z.ZodType>(schema: T, sent: string): z.infer<T> {
  return readable(() => schema.parse(JSON.parse(sent)));
}

function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw refused(`it cannot be read (${messageOf(error).slice(0, 100).replaceAll(/\s+/g, ' ')})`);
  }
}

function refused(why: string): Fault {
  return new Fault('invalid_request', `the passkey was not accepted: ${why}`, { field: 'credential' });
}

const decoded = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64url'));
const hashOf = (challenge: Uint8Array): string => createHash('sha256').update(challenge).digest('hex');
