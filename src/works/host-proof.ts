import { promises as dns } from 'node:dns';
import type { HostProof } from '../desk/host.ts';
import { PROOF_LABEL, PROOF_PATH, proofOf } from '../desk/host.ts';
import { VERSION } from './build.ts';
import { clientOptions, outboundClient } from './webhook-client.ts';
import type { Workshop } from './workshop.ts';

/** How long a name server is waited for, in ms, and how often each is asked. */
const DNS_WAIT = 2_000;
const DNS_TRIES = 2;

/** Looks whether whoever holds the host of an address says that it is a paper's; null when nothing there does. */
export type ProveHost = (paper: string, address: string) => Promise<Exclude<HostProof, 'given'> | null>;

/**
 * Looks for a file at the host and for a TXT record in its DNS, both at once,
 * through the client that webhooks are sent with and its rules. It never throws.
 */
export function hostProver({ settings }: Workshop): ProveHost {
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

  return async (paper, address) => {
    const proof = proofOf(paper, settings);
    const { origin, hostname } = new URL(address);
    const [file, txt] = await Promise.all([
      send(`${origin}${PROOF_PATH}`, { method: 'GET', headers: { Accept: 'text/plain' } }),
      resolver.resolveTxt(`${PROOF_LABEL}.${hostname}`).catch(() => []),
    ]);
    if (file.status === 200 && (file.text ?? '').split('\n').some((line) => line.trim() === proof)) return 'file';
    return txt.some((parts) => parts.join('').trim() === `paper=${proof}`) ? 'txt' : null;
  };
}
