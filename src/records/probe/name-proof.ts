import type { Signal } from '../../proof/records/signal.ts';
import type { Settings } from '../../server/env.ts';
import { type Inbound, outboundClient } from '../../shared/net/outbound-client.ts';
import { VERSION } from '../../shared/project.ts';
import { allowing } from './prober.ts';
import { createResolver, type Resolver } from './resolver.ts';

interface Finding {
  outcome: 'found' | 'absent' | 'unknown';
  detail: string;
}

/** Looks for `text` in the TXT records at `record` and in the lines of the file at `path` on `hostname`. Never rejects. */
export type NameProver = (
  hostname: string,
  proof: { record: string; path: string; text: string },
) => Promise<{ txt: Finding; file: Finding }>;

/** The most bytes read of a file, and the timeout, in ms. */
const FILE_MAX = 65_536;
const FILE_WAIT = 5_000;

/** For tests: the port of a local web server, and the CA to trust. */
interface ProverOptions {
  port?: number;
  ca?: string;
}

/**
 * Looks for proofs through the scanner's resolvers, and on the name's web server over HTTPS only: with plain HTTP,
 * anyone on the path could answer for it. Redirects are not followed, and the server's address must be public (or in
 * TLS_PRIVATE).
 */
export function nameProver(
  { resolvers, resolverRate, tlsPrivate, dataOrigin }: Settings,
  { port, ca }: ProverOptions = {},
): NameProver {
  return async (hostname, { record, path, text }) => {
    const resolver = createResolver({ servers: resolvers, rate: resolverRate });
    try {
      const addresses = addressesOf(resolver, hostname);
      const send = outboundClient({
        agent: `Broadsheet/${VERSION} (+${dataOrigin})`,
        allows: allowing(tlsPrivate),
        resolve: async () => (await addresses).flatMap(({ values }) => values),
        ...{ answerMax: FILE_MAX, answerWait: FILE_WAIT, ...(ca === undefined ? {} : { ca }) },
      });
      const address = `https://${hostname}${port === undefined ? '' : `:${port}`}${path}`;
      const [txt, file] = await Promise.all([
        resolver.ask(record, 'TXT'),
        send(address, { method: 'GET', headers: { Accept: 'text/plain' } }),
      ]);
      return { txt: inTxt(txt, text), file: inFile(file, text, await addresses) };
    } finally {
      resolver.close();
    }
  };
}

/** The addresses of a host, resolved only once, so that the connection goes to an address that was checked. */
function addressesOf({ ask }: Resolver, hostname: string): Promise<Signal[]> {
  return Promise.all([ask(hostname, 'A'), ask(hostname, 'AAAA')]);
}

const isNone = ({ status }: Signal): boolean => status === 'nxdomain' || status === 'nodata';

function inTxt(signal: Signal, text: string): Finding {
  if (signal.values.some((value) => value.trim() === text)) return { outcome: 'found', detail: 'found' };
  if (signal.status === 'ok') return { outcome: 'absent', detail: 'other_text' };
  return { outcome: isNone(signal) ? 'absent' : 'unknown', detail: signal.status };
}

/**
 * Statuses that say for certain that the file does not exist. Others may come from a proxy or firewall in front of the
 * server.
 */
const NO_FILE = new Set([404, 410]);

function inFile({ status, error, text: body, cut }: Inbound, text: string, addresses: Signal[]): Finding {
  const absent = (detail: string): Finding => ({ outcome: 'absent', detail });
  const unknown = (detail: string): Finding => ({ outcome: 'unknown', detail });
  if (status === null) {
    if (addresses.every(isNone)) return absent('no_address');
    return error === 'private_address' ? absent(error) : unknown(error ?? 'failed');
  }
  if (status >= 300 && status < 400) return absent('redirect');
  if (status !== 200) return NO_FILE.has(status) ? absent(`status_${status}`) : unknown(`status_${status}`);
  if (cut === 'too_long') return absent('too_long');
  if (body === null) return unknown(cut ?? 'closed');
  const isThere = body.split('\n').some((line) => line.replace(/^\uFEFF/, '').trim() === text);
  return isThere ? { outcome: 'found', detail: 'found' } : absent('other_text');
}
