import { promises as dns } from 'node:dns';
import type { Settings } from '../../server/env.ts';
import { Busy } from '../../shared/fault.ts';
import { clientOptions, outboundClient } from '../../shared/net/outbound-client.ts';
import { VERSION } from '../../shared/project.ts';
import { type HostProof, PROOF_LABEL, PROOF_PATH, proofOf } from './host.ts';

/** The timeout of a name server, in ms, and the number of tries. */
const DNS_WAIT = 2_000;
const DNS_TRIES = 2;

/** Checks whether the host of an address declares that it belongs to a paper. Returns null without a proof. */
export type ProveHost = (paper: string, address: string) => Promise<Exclude<HostProof, 'given'> | null>;

/**
 * Looks for a file on the host and a TXT record in its DNS concurrently, through the webhook client and under its
 * rules. Throws `unavailable` while another proof of the same paper is running.
 */
export function hostProver(
  settings: Pick<Settings, 'origin' | 'dataOrigin' | 'resolvers' | 'webhookPrivate'>,
): ProveHost {
  const options = clientOptions(`Broadsheet/${VERSION} (+${settings.origin})`, settings.webhookPrivate);
  const resolver = new dns.Resolver({ timeout: DNS_WAIT, tries: DNS_TRIES });
  const named = settings.resolvers.map(
    ({ address, port }) => `${address.includes(':') ? `[${address}]` : address}:${port}`,
  );
  if (named.length > 0) resolver.setServers(named);
  const addressesOf = async (host: string) => {
    const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    return found.flatMap((asked) => (asked.status === 'fulfilled' ? asked.value : []));
  };
  const send = outboundClient(named.length > 0 ? { ...options, resolve: addressesOf } : options);

  const underWay = new Set<string>();
  return async (paper, address) => {
    // Otherwise one key could make this server contact any number of hosts at once.
    if (underWay.has(paper)) {
      throw new Busy(`a host is being checked for ${paper}; try again when that check is done`);
    }
    underWay.add(paper);
    try {
      return await prove(paper, address);
    } finally {
      underWay.delete(paper);
    }
  };

  async function prove(paper: string, address: string): ReturnType<ProveHost> {
    const proof = proofOf(paper, settings);
    const { origin, hostname } = new URL(address);
    const [file, txt] = await Promise.all([
      send(`${origin}${PROOF_PATH}`, { method: 'GET', headers: { Accept: 'text/plain' } }),
      resolver.resolveTxt(`${PROOF_LABEL}.${hostname}`).catch(() => []),
    ]);
    if (file.status === 200 && (file.text ?? '').split('\n').some((line) => line.trim() === proof)) return 'file';
    return txt.some((parts) => parts.join('').trim() === `paper=${proof}`) ? 'txt' : null;
  }
}
