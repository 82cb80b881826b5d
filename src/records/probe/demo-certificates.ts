import { sha256 } from '../../proof/basis.ts';
import type { Certificate } from '../../proof/records/signal.ts';
import { DAY, HOUR, isoTime } from '../../proof/time.ts';
import { DEMO_NAMES, isHijacked } from './demo-zone.ts';
import type { CertificateProbe } from './tls-probe.ts';

/**
 * Invented certificate authorities. In days: how long their certificates are valid, and after how long hosts renew
 * them.
 */
const AUTHORITIES = [
  { issuer: 'CN=Lantern R3, O=Lantern Trust, C=XX', valid: 90, renewed: 60 },
  { issuer: 'CN=Lantern R4, O=Lantern Trust, C=XX', valid: 90, renewed: 60 },
  { issuer: 'CN=Breakwater TLS 2, O=Breakwater Notaries, C=XX', valid: 47, renewed: 31 },
  { issuer: 'CN=Meridian DV, O=Meridian Certificates Ltd, C=XX', valid: 198, renewed: 180 },
] as const;
/** Issues a certificate to the server that a name leads to, and so to the hijacker's too. */
const HASTY = { issuer: 'CN=Hasty DV 1, O=Hasty Certificates, C=XX', valid: 90 };

/** Invented hostnames without a certificate. */
const WITHOUT: ReadonlySet<string> = new Set(['xn--bcher-kva.example', 'archive.lighthouse-board.example']);

/**
 * The certificate of an invented hostname at a time in ms; `ago` is the number of days before the first start of the
 * demonstration, or 0. The same in every run.
 */
export function demoCertificate(hostname: string, at: number, ago = 0): CertificateProbe {
  const index = DEMO_NAMES.indexOf(hostname);
  if (index < 0) return { certificate: null, certificate_status: 'skipped' };
  if (WITHOUT.has(hostname)) return { certificate: null, certificate_status: 'none' };
  if (isHijacked(hostname, ago)) {
    const since = Math.floor(at / DAY) * DAY - HOUR;
    return { certificate: certificateOf(hostname, HASTY, since), certificate_status: 'ok' };
  }
  const authority = AUTHORITIES[index % AUTHORITIES.length] ?? AUTHORITIES[0];
  const period = authority.renewed * DAY;
  // Each hostname renews on other days.
  const shift = (index * 7 * DAY + index * 5 * HOUR) % period;
  const since = Math.floor((at - shift) / period) * period + shift;
  return { certificate: certificateOf(hostname, authority, since), certificate_status: 'ok' };
}

function certificateOf(
  hostname: string,
  { issuer, valid }: { issuer: string; valid: number },
  since: number,
): Certificate {
  return {
    issuer,
    subject: `CN=${hostname}`,
    not_before: isoTime(since),
    not_after: isoTime(since + valid * DAY),
    fingerprint256: sha256(`${hostname} ${issuer} ${since}`).replace('sha256:', ''),
    san: [hostname, `www.${hostname}`],
  };
}
