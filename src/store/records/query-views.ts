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

// The same as `records-bodies.ts` and `records-receipts.ts` compute, in SQL.

const RECORD = `CASE WHEN o.patch IS NULL THEN b.body ELSE (
  SELECT group_concat(substr(b.body, value ->> 0 + 1, value ->> 1) || (value ->> 2), '') FROM json_each(p.patch)) END`;

const WAYS = "json_extract(s.circumstances, '$[1]')";
const CIRCUMSTANCES = `CASE WHEN o.shared IS NULL THEN o.circumstances ELSE (
  SELECT json_group_array(json_array(
    coalesce(o.circumstances -> 1, s.circumstances -> 0) ->> way.key,
    CASE substr(way.value, 1, 1) WHEN 'u' THEN 'udp' WHEN 't' THEN 'tcp' END,
    (o.circumstances -> 0) ->> way.key,
    substr(way.value, 2))) FROM json_each(${WAYS}) AS way) END`;

/** The 68 bytes of a signature line in base64: groups of twelve bits, and the padding. */
const BASE64 = `(SELECT substr(group_concat(substr(A, 1 + n / 64, 1) || substr(A, 1 + n % 64, 1), ''), 1, 91) || '=' FROM (
  SELECT 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/' AS A, ${[0, 1, 2]
    .map((digit) => `(instr('123456789ABCDEF', substr(digits, value + ${digit}, 1)) << ${8 - 4 * digit})`)
    .join(' + ')} AS n
  FROM (SELECT hex(k.key_hash) || hex(o.signature) || '00' AS digits),
    json_each('${JSON.stringify(Array.from({ length: 46 }, (_, at) => 1 + 3 * at))}')))`;

const TIME = 'coalesce(o.signed_at, o.observed_at)';
const RECEIPT = `CASE WHEN o.signer IS NULL THEN o.receipt ELSE concat_ws(char(10), 'domain-observation/v1', 'domain ' || h.hostname,
  'seq ' || o.seq,
  'observed_at ' || strftime('%Y-%m-%dT%H:%M:%S', ${TIME} / 1000, 'unixepoch') || printf('.%03dZ', ${TIME} % 1000),
  'record_root sha256:' || lower(hex(o.root)), 'record_fields ' || o.fields,
  'prev ' || iif(o.prev IS NULL, 'none', 'sha256:' || lower(hex(o.prev))), 'kid ' || k.kid, '',
  '— ' || k.name || ' ' || ${BASE64}, '') END`;

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
    sql: `SELECT o.seq, h.hostname AS domain, o.observed_at, ${RECORD} AS record, ${CIRCUMSTANCES} AS circumstances,
        ${RECEIPT} AS receipt, iif(o.hash IS NULL, o.receipt_hash, 'sha256:' || lower(hex(o.hash))) AS receipt_hash
      FROM main.observations AS o JOIN main.record_bodies AS b ON b.id = o.body JOIN main.hostnames AS h ON h.id = o.host
        LEFT JOIN main.body_patches AS p ON p.id = o.patch LEFT JOIN main.shared_circumstances AS s ON s.id = o.shared
        LEFT JOIN main.receipt_signers AS k ON k.id = o.signer`,
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
    sql: `SELECT hostname AS domain, reason, at FROM main.opt_outs
      UNION ALL SELECT name AS domain, 'its owner opted it out' AS reason, at FROM main.owner_opt_outs`,
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
  owner_opt_outs: ['name', 'at'],
  record_bodies: ['id', 'body'],
  body_patches: ['id', 'base', 'patch'],
  shared_circumstances: ['id', 'circumstances'],
  receipt_signers: ['id', 'kid', 'name', 'key_hash'],
  observations: [
    ...['seq', 'host', 'observed_at', 'signed_at', 'body', 'patch', 'circumstances', 'shared'],
    ...['receipt', 'receipt_hash', 'signer', 'fields', 'root', 'prev', 'hash', 'signature'],
  ],
  deltas: ['seq', 'host', 'at', 'signal', 'kind', 'before', 'after', 'observation', 'rotation'],
  standing: ['host', 'signal', 'values', 'missing'],
  sightings: ['host', 'signal', 'value', 'first_seen', 'last_seen', 'count'],
  facets: ['host', 'kind', 'name'],
  change_counts: ['day', 'signal', 'kind', 'count'],
};
