import type { X509Certificate } from 'node:crypto';
import { type ConnectionOptions, connect } from 'node:tls';
import type { Certificate, CertificateStatus } from '../../proof/records/signal.ts';

/** The timeout of one handshake, from the first packet, in ms. */
const TIMEOUT = 5_000;
/** Maximum number of addresses to try, in order, until one has a certificate. */
const MOST_ADDRESSES = 2;
/** The limits of a signed record: characters of a distinguished name and of a host, and the number of hosts. */
const LONGEST_NAME = 4_000;
const LONGEST_HOST = 255;
const MOST_HOSTS = 2_000;

/** The certificate that a host presents, or why there is none. */
export interface CertificateProbe {
  certificate: Certificate | null;
  certificate_status: CertificateStatus;
}

/** Makes a TLS handshake with one of the addresses, using the host's name. Never rejects. */
export type Handshake = (hostname: string, addresses: readonly string[]) => Promise<CertificateProbe>;

export interface TlsProbeOptions {
  /** Whether connecting to an IP address is allowed. */
  allows(address: string): boolean;
  port?: number;
  /** In ms. */
  timeout?: number;
}

/**
 * Makes a TLS handshake with a hostname and reads the certificate, whatever its issuer and expiry. Connects only to the
 * given addresses, if they are allowed, and resolves no names.
 */
export function tlsProbe({ allows, port = 443, timeout = TIMEOUT }: TlsProbeOptions): Handshake {
  return async (hostname, addresses) => {
    let probe: CertificateProbe = noCertificate('skipped');
    for (const address of addresses.filter(allows).slice(0, MOST_ADDRESSES)) {
      const next = await handshakeAt({ hostname, address, port, timeout });
      if (next.certificate !== null) return next;
      // Unknown outranks `none`: the address that did not respond may have the certificate.
      if (probe.certificate_status === 'skipped' || probe.certificate_status === 'none') probe = next;
    }
    return probe;
  };
}

function noCertificate(certificate_status: Exclude<CertificateProbe['certificate_status'], 'ok'>): CertificateProbe {
  return { certificate: null, certificate_status };
}

interface Target {
  hostname: string;
  address: string;
  port: number;
  timeout: number;
}

function handshakeAt({ hostname, address, port, timeout }: Target): Promise<CertificateProbe> {
  return new Promise((done) => {
    const settle = (probe: CertificateProbe) => {
      clearTimeout(timer);
      socket.destroy();
      done(probe);
    };
    const timer = setTimeout(() => settle(noCertificate('timeout')), timeout);
    const socket = connect({ ...ANY_TLS, host: address, port, servername: hostname });
    socket.on('secureConnect', () => {
      const shown = socket.getPeerX509Certificate();
      const certificate = shown === undefined ? null : read(shown);
      settle(certificate === null ? noCertificate('error') : { certificate, certificate_status: 'ok' });
    });
    socket.on('error', (error: NodeJS.ErrnoException) =>
      settle(noCertificate(NO_TLS.test(error.code ?? '') ? 'none' : 'error')),
    );
    socket.on('close', () => settle(noCertificate('error')));
  });
}

/** A probe accepts everything: old versions, short keys and mismatched names are what it should report. */
const ANY_TLS: ConnectionOptions = {
  rejectUnauthorized: false,
  checkServerIdentity: () => undefined,
  minVersion: 'TLSv1',
  ciphers: 'DEFAULT:@SECLEVEL=0',
  ALPNProtocols: ['h2', 'http/1.1'],
};

/** The address refuses connections, or its response is not TLS. */
const NO_TLS = /^(?:ECONNREFUSED|ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|ERR_SSL_HTTP_REQUEST)$/;

/** The recorded parts of a certificate; null when its dates are invalid. */
function read(certificate: X509Certificate): Certificate | null {
  const not_before = timeText(certificate.validFromDate);
  const not_after = timeText(certificate.validToDate);
  if (not_before === null || not_after === null) return null;
  return {
    issuer: nameText(certificate.issuer),
    subject: nameText(certificate.subject),
    not_before,
    not_after,
    fingerprint256: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    san: hostsIn(certificate.subjectAltName ?? ''),
  };
}

/** Node writes one part of a distinguished name per line, the most general first. RFC 4514 uses the reverse order. */
function nameText(lines: string | undefined): string {
  const name = (lines ?? '').split('\n').filter(Boolean).reverse().join(', ');
  // Cut first, then made well-formed: the cut may split a surrogate pair.
  return withoutZero(name).slice(0, LONGEST_NAME).toWellFormed();
}

function timeText(date: Date): string | null {
  return Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9_999 || date.getUTCFullYear() < 0
    ? null
    : date.toISOString();
}

/** The DNS names among the alternative names. Node writes names with a comma or a quotation mark as JSON strings. */
export function hostsIn(names: string): string[] {
  const hosts = [...names.matchAll(/(?:^|, )DNS:("(?:[^"\\]|\\.)*"|[^,"]*)/g)].map(([, host = '']) =>
    withoutZero(host.startsWith('"') ? String(JSON.parse(host)) : host)
      .toLowerCase()
      .toWellFormed(),
  );
  return [...new Set(hosts)]
    .filter(({ length }) => length > 0 && length <= LONGEST_HOST)
    .sort()
    .slice(0, MOST_HOSTS);
}

/** Escapes U+0000 as RFC 1035 (section 5.1) does. Only forged names contain it. */
function withoutZero(text: string): string {
  return text.replaceAll('\0', '\\000');
}
