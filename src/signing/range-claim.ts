import { SECOND } from '../proof/time.ts';
import { Fault } from '../shared/fault.ts';
import { overlap, type RecordsNodes } from '../shared/nodes.ts';
import type { Bucket } from '../shared/storage/bucket.ts';
import { bytesOf, HEADERS, LEASE_FILE, type LeaseClaim, readLease } from './signer-lease.ts';

interface Place {
  bucket: Bucket;
  /** The prefix of all leases' keys. */
  prefix: string;
  /** How long a lease lasts unless renewed, in ms. */
  lasts: number;
}

const NODES = 'signers/';
/** The lease of a server without names, in front of the nodes: no node may take it for one that has them. */
const FRONT = 'front.json';
const ALL = '00-ff';

/** The key of a server's lease; null for a service that is not divided into nodes. */
export function leaseKey(prefix: string, nodes: RecordsNodes | null): string {
  if (nodes === null) return prefix + LEASE_FILE;
  return prefix + (nodes.own === null ? FRONT : `${NODES}${nodes.own.name}.json`);
}

/**
 * The range of names that a node signs for. Each node's lease states its range. A node reads all other leases before it
 * takes its own, and again after it has written its range there; so if two start at the same moment, at least one sees
 * the other. To take the range of a node that RECORDS_NODES declares gone, it waits until that node's lease was not
 * renewed for its full duration, and then replaces the lease permanently.
 */
export class RangeClaim implements LeaseClaim {
  readonly range: string;
  readonly #place: Place;
  readonly #nodes: RecordsNodes;
  readonly #own: string;
  readonly #desk: () => string | null;
  readonly #clock: () => number;
  /** The leases of gone nodes being watched, by key. */
  readonly #watched = new Map<string, { etag: string; since: number }>();

  /** `desk` returns the first signing key of this node; `clock` is monotonic, in ms. */
  constructor(place: Place, nodes: RecordsNodes, desk: () => string | null, clock = () => performance.now()) {
    this.range = nodes.own?.range ?? '';
    this.#place = place;
    this.#nodes = nodes;
    this.#own = nodes.own?.name ?? '';
    this.#desk = desk;
    this.#clock = clock;
  }

  async obstacle(signal: AbortSignal): Promise<string | null> {
    const { bucket, prefix } = this.#place;
    const all = await this.#obstacleAt(prefix + LEASE_FILE, null, signal);
    if (all !== null) return all;
    for await (const { key } of bucket.list(prefix + NODES)) {
      const name = key.slice(prefix.length + NODES.length).replace(/\.json$/, '');
      const one = name === this.#own ? null : await this.#obstacleAt(key, name, signal);
      if (one !== null) return one;
    }
    return null;
  }

  /** Like `obstacle`, for the lease of one node, or of the undivided service from before there were nodes. */
  async #obstacleAt(key: string, name: string | null, signal: AbortSignal): Promise<string | null> {
    const { bucket, lasts } = this.#place;
    const found = await readLease(bucket, key, signal);
    if (found === null || found.record.ceded !== null) return null;
    const { record, etag } = found;
    const range = name === null ? ALL : record.range;
    if (range === null || !overlap(range, this.range)) return null;
    const who = name === null ? 'the service that had all names' : `node ${name}`;
    if (this.#nodes.all.some((node) => node.name === name)) {
      return `${who} has the names ${range} until it is started with the RECORDS_NODES of this one`;
    }
    if (name === null ? record.desk !== this.#desk() : !this.#nodes.gone.includes(name)) {
      const cure =
        name === null
          ? 'start the node that has its database first'
          : `give each node the same RECORDS_NODES, with ${name}=gone to take its names`;
      throw new Fault('conflict', `${bucket.name}: ${who} has the names ${range} by ${key}; ${cure}`);
    }
    const now = this.#clock();
    const watched = this.#watched.get(key);
    const since = watched?.etag === etag ? watched.since : now;
    this.#watched.set(key, { etag, since });
    // This also applies to a node that was stopped cleanly: it may be about to start again.
    if (now - since < lasts) return `${who} may still sign for ${range}; its lease is watched for ${lasts / SECOND} s`;
    const ceded = { to: this.#own, at: new Date().toISOString() };
    const bytes = bytesOf({ ...record, holder: null, range: null, ceded, beat: record.beat + 1 });
    const taken = await bucket.put(key, bytes, { headers: HEADERS, onlyIf: { etag }, signal });
    return taken === null ? `${who} signs for ${range} again` : null;
  }
}
