import type { Policy, PolicyWitness } from '../ledger/log/policy.ts';

/** The witnesses at one address: a server that signs with several keys answers one request with all of them. */
export interface WitnessServer {
  /** Without a slash at its end. */
  address: string;
  witnesses: PolicyWitness[];
}

/** Groups witnesses by their address. Those without one are not asked. */
export function serversOf({ witnesses }: Policy): WitnessServer[] {
  const servers = new Map<string, WitnessServer>();
  for (const witness of witnesses) {
    if (witness.url === null) continue;
    const address = witness.url.replace(/\/+$/, '');
    const server = servers.get(address) ?? { address, witnesses: [] };
    server.witnesses.push(witness);
    servers.set(address, server);
  }
  return [...servers.values()];
}

/** The names of a server's witnesses in the policy, in words. */
export function namesOf({ witnesses }: WitnessServer): string {
  return witnesses.map(({ name }) => name).join(' and ');
}
