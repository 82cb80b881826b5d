import { setImmediate as turn } from 'node:timers/promises';
import type { AppContext } from '../server/context.ts';
import { Fault } from '../shared/fault.ts';
import { nodeOf, type RecordsNode } from '../shared/nodes.ts';
import { bucketHash, type Hostname } from './hostname.ts';

type Nodes = Pick<AppContext, 'settings'>;
type Name = Pick<Hostname, 'hostname' | 'registrable_domain'>;

/** The other node to which a hostname belongs; null for a hostname of this service. */
export function otherNodeOf(
  { settings: { nodes } }: Nodes,
  { hostname, registrable_domain }: Name,
): RecordsNode | null {
  if (nodes === null) return null;
  const node = nodeOf(nodes, bucketHash(hostname, registrable_domain));
  return node.name === nodes.own?.name ? null : node;
}

/** Throws `other_node`, with that node's address, for a hostname of another node. */
export function requireOwn(app: Nodes, name: Name, field?: string): void {
  const node = otherNodeOf(app, name);
  if (node !== null) throw otherNode(name, node, field);
}

export function otherNode({ hostname }: Pick<Name, 'hostname'>, { name, url }: RecordsNode, field?: string): Fault {
  const message = `${hostname} belongs to node ${name} of these records; send this to ${url}`;
  return new Fault('other_node', message, { node: url, ...(field === undefined ? {} : { field }) });
}

/** How many hostnames are paused per transaction. */
const CHUNK = 500;

/** After this node's range changed, pauses the watched hostnames that now belong to other nodes. */
export async function pauseOthers(app: Pick<AppContext, 'settings' | 'store'>): Promise<void> {
  const { records } = app.store;
  if (app.settings.nodes === null || records.node.newest()?.is_settled !== 0) return;
  for (let after = ''; ; await turn()) {
    const hosts = records.list(after, CHUNK);
    records.transact(() => {
      for (const host of hosts) if (otherNodeOf(app, host) !== null) records.pause(host.hostname);
    });
    after = hosts.at(-1)?.hostname ?? '';
    if (hosts.length < CHUNK) break;
  }
  records.node.settle();
}
