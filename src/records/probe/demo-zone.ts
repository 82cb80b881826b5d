/** A record of the demonstration, without its owner: the type, and the data as dns-packet writes it. */
type DemoRecord =
  | { type: 'A' | 'AAAA' | 'NS' | 'CNAME' | 'TXT'; data: string }
  | { type: 'MX'; data: { preference: number; exchange: string } }
  | { type: 'CAA'; data: { flags: number; tag: 'issue'; value: string } }
  | { type: 'SOA'; data: DemoSoa };

interface DemoSoa {
  mname: string;
  rname: string;
  serial: number;
  refresh: number;
  retry: number;
  expire: number;
  minimum: number;
}

export interface DemoAnswer {
  /** `nxDomain` for a name that does not exist below a zone, `refused` for one that is not of the demonstration. */
  code: 'noError' | 'nxDomain' | 'refused';
  records: DemoRecord[];
  /** The SOA of the zone, with its name, for answers without records (RFC 2308); null when refused. */
  authority: { name: string; data: DemoSoa } | null;
}

/** Addresses of the blocks for documentation (RFC 5737, RFC 3849): the prober never connects to them. */
const a = (...last: number[]): DemoRecord[] => last.map((n) => ({ type: 'A', data: `192.0.2.${n}` }));
const aaaa = (last: number): DemoRecord => ({ type: 'AAAA', data: `2001:db8::${last}` });
const ns = (house: string): DemoRecord[] => ['ns1', 'ns2'].map((n) => ({ type: 'NS', data: `${n}.${house}.example` }));
const mx = (exchange: string): DemoRecord => ({ type: 'MX', data: { preference: 10, exchange } });
const txt = (data: string): DemoRecord => ({ type: 'TXT', data });
const caa = (value: string): DemoRecord => ({ type: 'CAA', data: { flags: 0, tag: 'issue', value } });
const dmarc = (policy: string): DemoRecord => txt(`v=DMARC1; p=${policy}; rua=mailto:dmarc@mail.example`);

/** So many texts do not fit into a datagram of 1,232 bytes: they are asked for again over TCP. */
const TEXTS = Array.from({ length: 20 }, (_, n) =>
  txt(`ledger-${n + 1}=${'0123456789abcdef'.repeat(4)} of the lighthouse board`),
);

/** Records by the prefix of their owner: '' for the hostname itself, `www.`, `_dmarc.`. */
type Records = Readonly<Record<string, readonly DemoRecord[]>>;

interface DemoName {
  steps: number;
  /** In turn; null while the name does not exist. */
  states: readonly (Records | null)[];
}

/** The invented names, all below `.example` (RFC 2606), which nobody can register. */
const NAMES: Readonly<Record<string, DemoName>> = {
  'harbor-ledger.example': { steps: 1, states: [{ '': a(10) }, { '': a(11) }, { '': a(12, 13) }] },
  'tide-tables.example': {
    steps: 2,
    states: [{ '': [...a(20), mx('mx.post.example')] }, { '': [...a(20), mx('mx1.letters.example')] }],
  },
  'north-quay.example': {
    steps: 3,
    states: [{ '': [...a(30), ...ns('quay-dns')] }, { '': [...a(30), ...ns('pier-names')] }],
  },
  'chart-room.example': { steps: 3, states: [{ '': [...a(40), aaaa(40)] }, { '': a(40) }] },
  'pilots-guild.example': {
    steps: 2,
    states: [{ '': [...a(50), txt('v=spf1 mx -all')] }, { '': [...a(50), txt('v=spf1 include:post.example -all')] }],
  },
  'fog-signal.example': {
    steps: 2,
    states: ['none', 'quarantine', 'reject'].map((policy) => ({ '': a(60), '_dmarc.': [dmarc(policy)] })),
  },
  'salt-and-rope.example': {
    steps: 3,
    states: [{ '': a(70) }, { '': [...a(70), caa('ca.example')] }, { '': [...a(70), caa('notary.example')] }],
  },
  'municipal-water.example': {
    steps: 2,
    states: ['cdn', 'edge'].map((house) => ({
      '': a(80),
      'www.': [{ type: 'CNAME', data: `municipal-water.${house}.example` }],
    })),
  },
  'archive.lighthouse-board.example': {
    steps: 2,
    states: [{ '': [...a(90), ...TEXTS] }, { '': [...a(90), ...TEXTS, txt('closed for the winter')] }],
  },
  'lighthouse-board.example': { steps: 1, states: [{ '': [...a(100), mx('mx.post.example')], 'www.': a(100) }] },
  'xn--bcher-kva.example': { steps: 4, states: [{ '': a(110) }, { '': a(111) }] },
  'drift-wood.example': { steps: 5, states: [{ '': a(120) }, null] },
};

export const DEMO_NAMES: readonly string[] = Object.keys(NAMES);

/**
 * Answers a question at a step; the same step has the same answers in every run. `name` is in lower case without a
 * trailing dot.
 */
export function demoAnswer(name: string, type: string, step: number): DemoAnswer {
  const hostname = DEMO_NAMES.find((known) => name === known || name.endsWith(`.${known}`));
  const demo = hostname === undefined ? undefined : NAMES[hostname];
  if (hostname === undefined || demo === undefined) return { code: 'refused', records: [], authority: null };
  const data: DemoSoa = {
    mname: 'ns1.demonstration.example',
    rname: 'nobody.demonstration.example',
    serial: step % 2 ** 32,
    ...{ refresh: 3_600, retry: 600, expire: 86_400, minimum: 60 },
  };
  const authority = { name: hostname, data };
  const prefix = name.slice(0, -hostname.length);
  const state = demo.states[Math.floor(step / demo.steps) % demo.states.length];
  const here = state?.[prefix];
  if (here === undefined) return { code: 'nxDomain', records: [], authority };
  const all: readonly DemoRecord[] = prefix === '' ? [{ type: 'SOA', data }, ...here] : here;
  // An alias answers every question (RFC 1034, section 3.6.2).
  const records = all.filter((record) => record.type === type || record.type === 'CNAME');
  return { code: 'noError', records, authority };
}
