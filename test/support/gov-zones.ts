import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Zone } from './dns-servers.ts';

/** Real zones at successive dates, stored beside the project and never in it. Its README lists their errors. */
const FOLDER = new URL('../../../shared/dns/gov-zones/', import.meta.url).pathname;

/** Why tests that need the data are skipped; false when it is there. */
export const WITHOUT_ZONES = existsSync(FOLDER) ? false : 'needs ../shared/dns beside the project';

interface RecordSet {
  zone: string;
  name: string;
  type: string;
  ttl?: number;
  rdata?: string[];
  alias?: string;
  invalid?: true;
}

/** The zones at one time. */
export interface ZoneState {
  at: string;
  zones: string[];
  records: RecordSet[];
}

export function snapshots(): ZoneState[] {
  const text = gunzipSync(readFileSync(join(FOLDER, 'snapshots.jsonl.gz'))).toString();
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => servable(JSON.parse(line) as ZoneState));
}

interface Commit {
  at: string;
  added: RecordSet[];
  removed: RecordSet[];
  changed: { before: RecordSet; after: RecordSet }[];
  zones?: string[];
}

/** Every committed state, in order, in a form that a server can load. */
export function* states(): Generator<ZoneState> {
  const [base = '', ...rest] = gunzipSync(readFileSync(join(FOLDER, 'deltas.jsonl.gz')))
    .toString()
    .split('\n')
    .filter(Boolean);
  let { at, zones, records } = JSON.parse(base) as ZoneState;
  yield servable({ at, zones, records });
  for (const line of rest) {
    const commit = JSON.parse(line) as Commit;
    const gone = new Set([...commit.removed, ...commit.changed.map(({ before }) => before)].map(nameOf));
    const come = [...commit.added, ...commit.changed.map(({ after }) => after)];
    records = [...records.filter((set) => !gone.has(nameOf(set))), ...come];
    ({ at, zones = zones } = commit);
    yield servable({ at, zones, records });
  }
}

function nameOf({ zone, name, type }: RecordSet): string {
  return `${zone} ${name} ${type}`;
}

/** The record set of the data behind each signal. */
const SHOWN = {
  A: ['', 'A'],
  AAAA: ['', 'AAAA'],
  CNAME: ['', 'CNAME'],
  NS: ['', 'NS'],
  MX: ['', 'MX'],
  TXT: ['', 'TXT'],
  CAA: ['', 'CAA'],
  DS: ['', 'DS'],
  DMARC: ['_dmarc.', 'TXT'],
  WWW_A: ['www.', 'A'],
  WWW_AAAA: ['www.', 'AAAA'],
  WWW_CNAME: ['www.', 'CNAME'],
} as const;

export type Shown = keyof typeof SHOWN;
export const SIGNALS = Object.keys(SHOWN) as Shown[];

/**
 * The values that a probe of a hostname should find according to the data; null where the data does not say. Hostnames
 * have no trailing dot.
 */
export function truthOf(state: ZoneState, host: string): Record<Shown, string[] | null> {
  const entries = SIGNALS.map((signal) => {
    const [before, type] = SHOWN[signal];
    return [signal, expected(state, `${before}${host}.`, type)];
  });
  return Object.fromEntries(entries) as Record<Shown, string[] | null>;
}

/** The hostnames that can be probed, without the trailing dot. */
export function hostsOf({ records, zones }: Pick<ZoneState, 'records' | 'zones'>): string[] {
  const names = [...records.map(({ name }) => name), ...zones];
  return [...new Set(names)].filter((name) => !/[*_]/.test(name)).map((name) => name.slice(0, -1));
}

/** A state that a server can load: without invalid records, and without a CNAME beside other records. */
function servable({ at, zones, records }: ZoneState): ZoneState {
  const valid = records.filter(({ invalid }) => invalid !== true);
  const others = new Set([...zones, ...valid.filter(({ type }) => type !== 'CNAME').map(({ name }) => name)]);
  return {
    at,
    zones,
    records: valid
      .filter(({ type, name }) => type !== 'CNAME' || !others.has(name))
      .map((set) => (set.alias === undefined ? set : { ...set, rdata: [aliasOf(set.type, set.alias)] })),
  };
}

/**
 * The provider's own aliases have no address in the data, so each target gets an address reserved for documentation.
 */
function aliasOf(type: string, target: string): string {
  if (type !== 'A' && type !== 'AAAA') return target;
  const [a = 0, b = 0] = createHash('sha256').update(target).digest();
  return type === 'AAAA' ? `2001:db8::${(256 + a).toString(16)}:${(256 + b).toString(16)}` : `203.0.113.${a}`;
}

/** The zone files of a state. */
export function zoneFiles({ zones, records }: ZoneState): Zone[] {
  return zones.map((zone) => ({
    name: zone.slice(0, -1),
    ns: SERVER,
    lines: records
      .filter((set) => set.zone === zone)
      .flatMap(({ name, type, ttl = 300, rdata = [] }) =>
        rdata.map((data) => `${name} ${ttl} IN ${type} ${type === 'TXT' ? quoted(data) : data}`),
      ),
  }));
}

export const SERVER = 'ns.servers.example';

function quoted(text: string): string {
  const parts = text.match(/.{1,255}/gs) ?? [''];
  return parts.map((part) => `"${part.replace(/["\\]/g, '\\$&')}"`).join(' ');
}

/**
 * The response of a server with this state to a query, by the rules of RFC 1034, section 4.3.2: values as our records
 * have them, or null where the state does not tell.
 */
export function expected(state: ZoneState, name: string, type: string, depth = 0): string[] | null {
  const zone = zoneOf(state, name, type);
  if (zone === null || depth > 8) return null;
  const here = state.records.filter((set) => set.zone === zone);
  const cut = above(name, zone).find((parent) => here.some((set) => set.name === parent && set.type === 'NS'));
  if (cut !== undefined && !(cut === name && (type === 'NS' || type === 'DS'))) return null;
  if (name === zone && type === 'NS') return [SERVER];
  const source = here.some((set) => isAtOrBelow(set.name, name)) || name === zone ? name : wildcard(here, name, zone);
  const sets = here.filter((set) => set.name === source);
  const alias = sets.find((set) => set.type === 'CNAME')?.rdata?.[0];
  if (alias !== undefined && type !== 'CNAME') {
    const target = alias.toLowerCase();
    return zoneOf(state, target, type) === zone ? (expected(state, target, type, depth + 1) ?? []) : [];
  }
  const values = sets.filter((set) => set.type === type).flatMap(({ rdata = [] }) => rdata);
  return [...new Set(values.map((value) => canonical(type, value)))].sort();
}

function zoneOf({ zones }: ZoneState, name: string, type: string): string | null {
  const holding = zones.filter((zone) => isAtOrBelow(name, zone)).sort((a, b) => b.length - a.length);
  // A DS record is in the parent zone, if the server has that zone too.
  return (type === 'DS' && holding[0] === name ? (holding[1] ?? holding[0]) : holding[0]) ?? null;
}

function isAtOrBelow(name: string, zone: string): boolean {
  return name === zone || name.endsWith(`.${zone}`);
}

/** A name and its parents below a zone, the highest first. */
function above(name: string, zone: string): string[] {
  const labels = name.split('.');
  return labels
    .map((_, index) => labels.slice(index).join('.'))
    .filter((parent) => parent !== zone && parent.endsWith(`.${zone}`))
    .reverse();
}

/** The wildcard that covers a missing name (RFC 4592, section 3.3.1); the caller checks whether it exists. */
function wildcard(here: RecordSet[], name: string, zone: string): string {
  const encloser = above(name, zone)
    .reverse()
    .find((parent) => here.some((set) => isAtOrBelow(set.name, parent)));
  return `*.${encloser ?? zone}`;
}

/** A value of the data in the format of our records. */
function canonical(type: string, value: string): string {
  if (type === 'TXT') return value.replace(/\\/g, '\\\\');
  if (type === 'NS' || type === 'CNAME' || type === 'MX') return value.toLowerCase().replace(/\.$/, '');
  if (type === 'AAAA') return value.toLowerCase();
  if (type === 'CAA') return value.replace(/^(\d+ \w+) ([^"]*)$/, '$1 "$2"');
  return value;
}
