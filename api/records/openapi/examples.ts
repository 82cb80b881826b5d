/** Examples of records by the name of their schema. Tests watch the hostnames in them. */
const DELTA = {
  seq: 42,
  at: '2026-11-20T09:30:00.000Z',
  domain: 'example.com',
  signal: 'A',
  kind: 'changed',
};
const RECEIPT =
  'domain-observation/v1\ndomain example.com\nseq 1204\nobserved_at 2026-11-20T09:30:00.000Z\nrecord_root sha256:5461e0df22f901ea87bac471703325dce1c1230a0047986ff8d258248e913c12\nrecord_fields 27\nprev none\nkid X88sZBTRuvGwEN7waxE273pPSXq3npJOw__tLgv03xE\n\n— records.example/door /h68dD4tIZzy4JBnCixX9T1Lt0yZP7pc7y5Xu5a8ME0MN+a/Tv77o7CjQ+OTATNM69pZ6sE00Q6kgEFaTyQf5T9AxQM=\n';

export const EXAMPLES: Readonly<Record<string, object>> = {
  Delta: { ...DELTA, before: ['192.0.2.1'], after: ['192.0.2.2'], observation_seq: 1204 },
  TapeRow: { ...DELTA, line: 'example.com A changed: 192.0.2.1 → 192.0.2.2' },
  CatalogRow: {
    domain: 'xn--bcher-kva.example',
    unicode: 'bücher.example',
    registrable_domain: 'xn--bcher-kva.example',
    state: 'watched',
    added_at: '2026-11-01T00:00:00.000Z',
    observed_at: '2026-11-20T09:30:00.000Z',
    seq: 1204,
  },
  ProvenanceItem: {
    seq: 1204,
    observed_at: '2026-11-20T09:30:00.000Z',
    record_root: 'sha256:5461e0df22f901ea87bac471703325dce1c1230a0047986ff8d258248e913c12',
    receipt: RECEIPT,
    log: null,
  },
  Sighting: {
    signal: 'MX',
    value: '10 mail.example.com',
    first_seen: '2026-11-01T00:00:00.000Z',
    last_seen: '2026-11-20T09:30:00.000Z',
    count: 20,
  },
  SeriesPoint: {
    seq: 1204,
    observed_at: '2026-11-20T09:30:00.000Z',
    signals: { A: { status: 'ok', count: 1, ttl: 300, rtt_ms: 7 } },
  },
  Dump: {
    ...{ day: '2026-11-20', generation: 1, why: 'new', rows: 41_204, made_at: '2026-11-21T01:04:00.000Z' },
    files: [
      {
        ...{ format: 'parquet', name: '2026-11-20.1.parquet', bytes: 46_104_120 },
        url: 'https://records.example/dumps/2026-11-20.1.parquet',
        sha256: 'fbc62d3b511368ee275ddc74117d8689b430e1427220e25d30816201d89ca7b6',
      },
      {
        ...{ format: 'ndjson', name: '2026-11-20.1.ndjson.gz', bytes: 41_210_004 },
        url: 'https://records.example/dumps/2026-11-20.1.ndjson.gz',
        sha256: 'ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356',
      },
    ],
    note: 'dump/v1\nday 2026-11-20\n…',
    leaf: { index: 81_207, hash: '5daea28095cb52f162e82ab2804f5c004e83fc87c205a2c30e15a1d5ac4d6439' },
    replaced: [],
  },
  Signal: {
    status: 'ok',
    ttl: 300,
    values: ['192.0.2.2'],
    transport: 'udp',
    rtt_ms: 7,
    flags: { aa: false, ad: true, tc: false },
  },
  ServiceRow: { service: 'Google Workspace', kind: 'mail', count: 118 },
  IssuerRow: { issuer: 'Let’s Encrypt', count: 412 },
  MailHostRow: { mail_host: 'google.com', count: 118 },
  DnsHostRow: { dns_host: 'cloudflare.com', count: 96 },
  SignIn: {
    sign_in: true,
    message: 'today’s lookups without a key are used up, for everyone; sign in and make a key',
    sign_in_url: 'https://records.example/account',
    docs: 'https://records.example/docs',
    resets_at: '2026-11-21T00:00:00.000Z',
  },
  DomainList: { domains: ['example.com', 'bücher.example'] },
  EnrichBatch: { domains: ['example.com'] },
  LeaseWish: { max: 100 },
};
