import { randomBytes } from 'node:crypto';
import { signerFrom } from '../../src/proof/ed25519.ts';
import { thumbprint, type VerifyingKey } from '../../src/proof/keyring.ts';
import {
  type Certificate,
  type Probe,
  SIGNAL_TYPES,
  type Signal,
  type SignalStatus,
  type SignalType,
} from '../../src/proof/records/signal.ts';
import type { RecordingOptions } from '../../src/records/recording.ts';

/** The signer of the tests, and its key. */
const signer = signerFrom('desk.example/door', new Uint8Array(32).fill(1));
export const KEY: VerifyingKey = {
  kid: thumbprint(signer.publicKey),
  name: signer.name,
  publicKey: signer.publicKey,
  nbf: 0,
  retired_at: null,
};

export const HOUR = 3_600_000;

/** The options that record a probe at a time. */
export function toolsAt(now: number, more: Partial<RecordingOptions> = {}): RecordingOptions {
  return { signer, kid: KEY.kid, now, every: 24 * HOUR, randomBytes: (length) => randomBytes(length), ...more };
}

/** A signal with these values, or with a status and no values. */
export function signal(values: string[], status: SignalStatus = values.length > 0 ? 'ok' : 'nodata'): Signal {
  const answered = status === 'ok' || status === 'nodata' || status === 'nxdomain';
  return {
    status,
    ttl: values.length > 0 ? 300 : null,
    values,
    transport: answered ? 'udp' : null,
    rtt_ms: answered ? 7 : null,
    flags: { aa: answered, ad: false, tc: false },
    resolver: '127.0.0.1:5353',
  };
}

/** A probe that found only these values. A status in place of values means a response without any. */
export function probe(
  hostname: string,
  at: number,
  seen: Partial<Record<SignalType, string[] | SignalStatus>>,
  certificate: Certificate | null = null,
): Probe {
  const signals = Object.fromEntries(
    SIGNAL_TYPES.map((type) => {
      const found = seen[type] ?? [];
      return [type, typeof found === 'string' ? signal([], found) : signal(found)];
    }),
  ) as Probe['signals'];
  const certificate_status = certificate === null ? 'none' : 'ok';
  return { hostname, at, signals, certificate, certificate_status, wildcard: false };
}

/** A certificate whose fingerprint repeats one digit. */
export function certificate(digit: string, issuer = "CN=R11, O=Let's Encrypt, C=US"): Certificate {
  return {
    issuer,
    subject: 'CN=example.test',
    not_before: '2026-11-01T00:00:00.000Z',
    not_after: '2027-01-30T00:00:00.000Z',
    fingerprint256: digit.repeat(64),
    san: ['example.test', 'www.example.test'],
  };
}
