/**
 * The views that operators may query: the records' tables, without anything about keys, accounts, mails or payments.
 */

export interface QueryColumn {
  name: string;
  type: 'text' | 'integer';
  description?: string;
}

export interface QueryView {
  name: string;
  description: string;
  columns: QueryColumn[];
  sql: string;
}

const text = (name: string, description?: string): QueryColumn => column(name, 'text', description);
const integer = (name: string, description?: string): QueryColumn => column(name, 'integer', description);
const time = (name: string): QueryColumn => column(name, 'integer', 'Ms since 1970.');

function column(name: string, type: QueryColumn['type'], description?: string): QueryColumn {
  return description === undefined ? { name, type } : { name, type, description };
}

const DOMAIN = text('domain', 'In A-labels.');

export const QUERY_VIEWS: readonly QueryView[] = [
  {
    name: 'domains',
    description: 'Hostnames that are or were under watch; those that opted out too.',
    columns: [
      DOMAIN,
      text('unicode'),
      text('registrable_domain'),
      text('state', 'watched, paused or opted_out'),
      time('added_at'),
      time('due_at'),
      time('looked_at'),
      integer('seq', 'The newest observation.'),
      integer('failures', 'Consecutive probes without an answer.'),
      text('operator', 'Whose name servers are asked.'),
    ],
    sql: `SELECT hostname AS domain, unicode, registrable_domain, state, added_at, due_at, looked_at, seq, failures, operator
      FROM main.hostnames`,
  },
  {
    name: 'observations',
    description: 'Every signed observation.',
    columns: [
      integer('seq', 'Of the whole service, without gaps.'),
      DOMAIN,
      time('observed_at'),
      text('record', 'JSON: what stays the same from one observation to the next.'),
      text('circumstances', 'JSON: TTL, transport, round trip and flags of each signal.'),
      text('receipt'),
      text('receipt_hash'),
    ],
    sql: `SELECT o.seq, h.hostname AS domain, o.observed_at, b.body AS record, o.circumstances, o.receipt, o.receipt_hash
      FROM main.observations AS o JOIN main.record_bodies AS b ON b.id = o.body JOIN main.hostnames AS h ON h.id = o.host`,
  },
  {
    name: 'deltas',
    description: 'What changed.',
    columns: [
      integer('seq', 'Of the whole service, without gaps.'),
      time('at'),
      DOMAIN,
      text('signal'),
      text('kind', 'added, removed or changed'),
      text('before', 'JSON: a list of values.'),
      text('after', 'JSON: a list of values.'),
      integer('observation_seq'),
      text('rotation', 'Of a rotating signal: answer or set, of which each list shows one. Null for any other.'),
    ],
    sql: `SELECT d.seq, d.at, h.hostname AS domain, d.signal, d.kind, d."before", d."after", d.observation AS observation_seq,
        d.rotation
      FROM main.deltas AS d JOIN main.hostnames AS h ON h.id = d.host`,
  },
  {
    name: 'standing',
    description: 'The last known values of each signal.',
    columns: [
      DOMAIN,
      text('signal'),
      text('values', 'JSON: a list of values.'),
      text('missing', 'JSON: those missing once.'),
    ],
    sql: `SELECT h.hostname AS domain, s.signal, s."values", s.missing
      FROM main.standing AS s JOIN main.hostnames AS h ON h.id = s.host`,
  },
  {
    name: 'sightings',
    description: 'When each value was seen.',
    columns: [
      DOMAIN,
      text('signal'),
      text('value'),
      time('first_seen'),
      time('last_seen'),
      integer('count', 'The number of observations with this value.'),
    ],
    sql: `SELECT h.hostname AS domain, s.signal, s.value, s.first_seen, s.last_seen, s.count
      FROM main.sightings AS s JOIN main.hostnames AS h ON h.id = s.host`,
  },
  {
    name: 'facets',
    description: 'What shown hostnames count for in lists and charts.',
    columns: [DOMAIN, text('kind'), text('name')],
    sql: `SELECT h.hostname AS domain, f.kind, f.name FROM main.facets AS f JOIN main.hostnames AS h ON h.id = f.host`,
  },
  {
    name: 'changes_by_day',
    description: 'How many shown changes there were on each UTC day.',
    columns: [text('day', 'YYYY-MM-DD'), text('signal'), text('kind'), integer('count')],
    sql: 'SELECT day, signal, kind, count FROM main.change_counts',
  },
  {
    name: 'opt_outs',
    description: 'Opted-out names, which are neither probed nor shown; subdomains included.',
    columns: [DOMAIN, text('reason'), time('at')],
    sql: 'SELECT hostname AS domain, reason, at FROM main.opt_outs',
  },
];

/**
 * The columns that a query may read, directly or through a view. A query can give its own subquery the name of a view,
 * so reading through a view proves nothing. Seeds of salts, leases, and records of key use are excluded.
 */
export const QUERY_READABLE: Readonly<Record<string, readonly string[]>> = {
  hostnames: [
    ...['id', 'hostname', 'unicode', 'registrable_domain', 'state', 'added_at'],
    ...['due_at', 'looked_at', 'seq', 'failures', 'operator'],
  ],
  opt_outs: ['hostname', 'reason', 'at'],
  record_bodies: ['id', 'body'],
  observations: ['seq', 'host', 'observed_at', 'body', 'circumstances', 'receipt', 'receipt_hash'],
  deltas: ['seq', 'host', 'at', 'signal', 'kind', 'before', 'after', 'observation', 'rotation'],
  standing: ['host', 'signal', 'values', 'missing'],
  sightings: ['host', 'signal', 'value', 'first_seen', 'last_seen', 'count'],
  facets: ['host', 'kind', 'name'],
  change_counts: ['day', 'signal', 'kind', 'count'],
};
