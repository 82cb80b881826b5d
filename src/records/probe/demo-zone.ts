/** A record of the demonstration without its owner name: the type, and the data as dns-packet encodes it. */
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
  /** `nxDomain` for a missing name in a zone of the demonstration, `refused` for any name outside of them. */
  code: 'noError' | 'nxDomain' | 'refused';
  records: DemoRecord[];
  /** The zone's name and SOA, for answers without records (RFC 2308); null when refused. */
  authority: { name: string; data: DemoSoa } | null;
}

/** Addresses reserved for documentation (RFC 5737, RFC 3849): the prober never connects to them. */
const a = (...last: number[]): DemoRecord[] => last.map((n) => ({ type: 'A', data: `192.0.2.${n}` }));
const aaaa = (last: number): DemoRecord => ({ type: 'AAAA', data: `2001:db8::${last}` });
const ns = (house: string): DemoRecord[] => ['ns1', 'ns2'].map((n) => ({ type: 'NS', data: `${n}.${house}.example` }));
const mx = (exchange: string): DemoRecord => ({ type: 'MX', data: { preference: 10, exchange } });
const txt = (data: string): DemoRecord => ({ type: 'TXT', data });
const caa = (value: string): DemoRecord => ({ type: 'CAA', data: { flags: 0, tag: 'issue', value } });
const dmarc = (policy: string): DemoRecord => txt(`v=DMARC1; p=${policy}; rua=mailto:dmarc@mail.example`);

/** Enough texts to exceed a UDP answer of 1,232 bytes, so that the prober repeats the query over TCP. */
const TEXTS = Array.from({ length: 20 }, (_, n) =>
  txt(`ledger-${n + 1}=${'0123456789abcdef'.repeat(4)} of the lighthouse board`),
);

/** Records by the prefix of their owner name: '' for the hostname itself, `www.`, `_dmarc.`. */
type Records = Readonly<Record<string, readonly DemoRecord[]>>;

interface DemoName {
  /** The states before the demonstration first started, oldest first: each began `days` days before that. */
  past?: readonly (readonly [days: number, records: Records | null])[];
  steps: number;
  /** The states since then, in turn; null while the name does not exist. */
  states: readonly (Records | null)[];
}

/** The hosts of a company's mail, name servers and website, which `services.ts` recognizes. */
interface Hosting {
  mail: keyof typeof MAIL;
  dns: keyof typeof DNS;
  web: keyof typeof WEB;
  texts?: readonly string[];
}

const MAIL = {
  google: [mx('smtp.google.com'), txt('v=spf1 include:_spf.google.com ~all'), txt('google-site-verification=demo')],
  microsoft: [mx('demo.mail.protection.outlook.com'), txt('v=spf1 include:spf.protection.outlook.com -all')],
  proton: [mx('mail.protonmail.ch'), txt('v=spf1 include:_spf.protonmail.ch ~all')],
  fastmail: [mx('in1-smtp.messagingengine.com'), txt('v=spf1 include:spf.messagingengine.com ?all')],
  zoho: [mx('mx.zoho.eu'), txt('v=spf1 include:zohomail.eu ~all')],
  none: [],
} as const;
const DNS = {
  cloudflare: ['ada.ns.cloudflare.com', 'rob.ns.cloudflare.com'],
  route53: ['ns-101.awsdns-12.com', 'ns-1212.awsdns-23.org'],
  hetzner: ['helium.ns.hetzner.de', 'hydrogen.ns.hetzner.com'],
  gandi: ['ns-1-a.gandi.net', 'ns-2-b.gandi.net'],
  desec: ['ns1.desec.io', 'ns2.desec.org'],
} as const;
const WEB = {
  netlify: 'demo.netlify.app',
  vercel: 'cname.vercel-dns.com',
  github: 'demo.github.io',
  shopify: 'shops.myshopify.com',
  cloudfront: 'd111111abcdef8.cloudfront.net',
  fastly: 'demo.map.fastly.net',
} as const;

/** A company at 192.0.2.`n` that sometimes changes its hosting; `moves` are in days before the first start. */
function company(
  n: number,
  first: Hosting,
  ...moves: readonly (readonly [days: number, Partial<Hosting>])[]
): DemoName {
  let hosting = first;
  const past = [[Number.POSITIVE_INFINITY, {}] as const, ...moves].map(([days, move]) => {
    hosting = { ...hosting, ...move };
    return [days, recordsOf(n, hosting)] as const;
  });
  return { past, steps: 1, states: [past.at(-1)?.[1] ?? null] };
}

function recordsOf(n: number, { mail, dns, web, texts = [] }: Hosting): Records {
  const servers = DNS[dns].map((data): DemoRecord => ({ type: 'NS', data }));
  const hasMail = mail !== 'none';
  return {
    '': [
      ...a(n),
      aaaa(n),
      ...servers,
      ...MAIL[mail],
      ...texts.map(txt),
      ...(n % 3 === 0 ? [caa('lantern.example')] : []),
    ],
    'www.': [{ type: 'CNAME', data: WEB[web] }],
    ...(hasMail ? { '_dmarc.': [dmarc(n % 2 === 0 ? 'quarantine' : 'none')] } : {}),
  };
}

/** The hostname whose name servers are taken over for some hours in the past; times in days before the first start. */
export const HIJACK = { hostname: 'lighthouse-board.example', from: 9.4, until: 9.23 } as const;
export function isHijacked(hostname: string, ago: number): boolean {
  return hostname === HIJACK.hostname && ago <= HIJACK.from && ago > HIJACK.until;
}

/** The token in the TXT record that proves to the demonstration that its account owns the board's name. */
export const DEMO_TOKEN = 'demonstration-of-the-lighthouse-board';
const BOARD: Records = {
  '': [
    ...a(100),
    aaaa(100),
    ...ns('lantern-dns'),
    mx('mx.post.example'),
    txt('v=spf1 mx -all'),
    caa('lantern.example'),
  ],
  'www.': a(100),
  '_dmarc.': [dmarc('reject')],
  '_broadsheet.': [txt(`broadsheet-verification=${DEMO_TOKEN}`)],
};
/** The answers during the takeover, with addresses of another documentation block. Mail is diverted too. */
const HIJACKED: Records = {
  '': [{ type: 'A', data: '198.51.100.66' }, ...ns('hasty-parking'), mx('mail.hasty-parking.example')],
  'www.': [{ type: 'A', data: '198.51.100.66' }],
};

const HARBOR = [
  ...ns('lantern-dns'),
  mx('mx1.letters.example'),
  txt('v=spf1 include:letters.example -all'),
  caa('lantern.example'),
];

/** The invented hostnames, all below `.example` (RFC 2606), which nobody can register. */
const NAMES: Readonly<Record<string, DemoName>> = {
  'harbor-ledger.example': {
    past: [
      [90, { '': [...a(5), ...ns('quay-dns'), mx('mx.post.example')] }],
      [71, { '': [...a(5), ...ns('quay-dns'), mx('mx1.letters.example'), txt('v=spf1 include:letters.example -all')] }],
      [
        44,
        {
          '': [
            ...a(7),
            aaaa(7),
            ...ns('quay-dns'),
            mx('mx1.letters.example'),
            txt('v=spf1 include:letters.example -all'),
          ],
        },
      ],
      [30, { '': [...a(7), aaaa(7), ...HARBOR], '_dmarc.': [dmarc('none')] }],
      [17, { '': [...a(9), aaaa(9), ...HARBOR], '_dmarc.': [dmarc('quarantine')] }],
      [4, { '': [...a(10), aaaa(9), ...HARBOR], '_dmarc.': [dmarc('reject')] }],
    ],
    steps: 1,
    states: [a(10), a(11), a(12, 13)].map((addresses) => ({
      '': [...addresses, aaaa(9), ...HARBOR],
      '_dmarc.': [dmarc('reject')],
    })),
  },
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
  [HIJACK.hostname]: {
    past: [
      [Number.POSITIVE_INFINITY, BOARD],
      [HIJACK.from, HIJACKED],
      [HIJACK.until, BOARD],
    ],
    steps: 1,
    states: [BOARD],
  },
  'xn--bcher-kva.example': { steps: 4, states: [{ '': a(110) }, { '': a(111) }] },
  'drift-wood.example': { past: [[63, { '': a(121) }]], steps: 5, states: [{ '': a(120) }, null] },
  'brine-and-barley.example': company(
    131,
    { mail: 'google', dns: 'cloudflare', web: 'netlify' },
    [52, { web: 'shopify' }],
    [23, { mail: 'microsoft' }],
    [6, { texts: ['stripe-verification=demo'] }],
  ),
  'anchor-forge.example': company(132, { mail: 'google', dns: 'route53', web: 'cloudfront' }, [
    37,
    { dns: 'cloudflare' },
  ]),
  'north-sea-pilots.example': company(133, { mail: 'microsoft', dns: 'gandi', web: 'github' }, [
    66,
    { mail: 'fastmail' },
  ]),
  'ropewalk-theatre.example': company(
    134,
    { mail: 'zoho', dns: 'hetzner', web: 'vercel' },
    [81, { web: 'netlify' }],
    [28, { mail: 'google' }],
  ),
  'gull-and-grain.example': company(135, { mail: 'google', dns: 'cloudflare', web: 'shopify' }, [
    12,
    { mail: 'proton' },
  ]),
  'tidal-energy-coop.example': company(
    136,
    { mail: 'microsoft', dns: 'route53', web: 'fastly', texts: ['ms=ms00000000'] },
    [58, { texts: ['ms=ms00000000', 'atlassian-domain-verification=demo'] }],
    [19, { web: 'cloudfront' }],
  ),
  'lamp-room-press.example': company(137, { mail: 'fastmail', dns: 'desec', web: 'github' }),
  'keel-insurance.example': company(
    138,
    { mail: 'microsoft', dns: 'route53', web: 'cloudfront', texts: ['docusign=demo'] },
    [47, { dns: 'gandi' }],
    [43, { dns: 'route53' }],
  ),
  'saltmarsh-school.example': company(139, { mail: 'google', dns: 'cloudflare', web: 'github' }, [
    34,
    { web: 'vercel' },
  ]),
  'buoy-works.example': company(
    141,
    { mail: 'proton', dns: 'hetzner', web: 'netlify' },
    [76, { mail: 'none' }],
    [72, { mail: 'google' }],
  ),
  'ferry-timetable.example': company(
    142,
    { mail: 'none', dns: 'cloudflare', web: 'fastly' },
    [15, { web: 'vercel' }],
    [3, { mail: 'zoho' }],
  ),
  'storm-glass.example': company(143, { mail: 'microsoft', dns: 'cloudflare', web: 'vercel' }, [
    40,
    { mail: 'google' },
  ]),
};

export const DEMO_NAMES: readonly string[] = Object.keys(NAMES);

/**
 * Answers a question at a step; the same step has the same answers in every run. `ago`, if set, is the number of days
 * before the demonstration first started. `name` is in lower case without a trailing dot.
 */
export function demoAnswer(name: string, type: string, step: number, ago = 0): DemoAnswer {
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
  const past = ago > 0 ? demo.past?.findLast(([days]) => days >= ago) : undefined;
  const turn = Math.floor(ago > 0 ? ago / (7 * demo.steps) : step / demo.steps);
  const state = past === undefined ? demo.states[turn % demo.states.length] : past[1];
  const here = state?.[prefix];
  if (here === undefined) return { code: 'nxDomain', records: [], authority };
  const all: readonly DemoRecord[] = prefix === '' ? [{ type: 'SOA', data }, ...here] : here;
  // An alias answers every question (RFC 1034, section 3.6.2).
  const records = all.filter((record) => record.type === type || record.type === 'CNAME');
  return { code: 'noError', records, authority };
}
