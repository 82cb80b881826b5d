import type { Probe, SignalType } from '../../src/proof/records/signal.ts';
import { certificate, probe } from './probes.ts';

const DAY = 86_400_000;

type Seen = Partial<Record<SignalType, string[]>>;

/** Providers of names and mail for the invented hostnames, in turn. */
const HOUSES: { ns: string[]; mx: string[]; txt: string; issuer: string }[] = [
  {
    ns: ['ada.ns.cloudflare.com', 'hank.ns.cloudflare.com'],
    mx: ['1 aspmx.l.google.com', '5 alt1.aspmx.l.google.com'],
    txt: 'v=spf1 include:_spf.google.com ~all',
    issuer: 'CN=WE1, O=Google Trust Services, C=US',
  },
  {
    ns: ['ns-1.awsdns-01.org', 'ns-2.awsdns-02.com', 'ns-3.awsdns-03.net'],
    mx: ['0 example-com.mail.protection.outlook.com'],
    txt: 'v=spf1 include:spf.protection.outlook.com -all',
    issuer: "CN=R11, O=Let's Encrypt, C=US",
  },
  {
    ns: ['ns1.harbor-hosting.example', 'ns2.harbor-hosting.example'],
    mx: ['10 mx.harbor-hosting.example'],
    txt: 'v=spf1 mx -all',
    issuer: 'CN=DigiCert Global G2 TLS RSA SHA256 2020 CA1, O=DigiCert Inc, C=US',
  },
];

const NAMES = [
  'harbor-ledger.example',
  'tide-tables.example',
  'www.tide-tables.example',
  'lighthouse-board.example',
  'xn--bcher-kva.example',
  'archive.lighthouse-board.example',
  'municipal-water.example',
  'pilots-guild.example',
  'chart-room.example',
  'salt-and-rope.example',
  'north-quay.example',
  'fog-signal.example',
];

/** The values of the n-th hostname on a day: most stay, some change now and then. */
function seenOn(index: number, day: number): Seen {
  const house = HOUSES[(index + (index === 3 && day > 4 ? 1 : 0)) % HOUSES.length] as (typeof HOUSES)[number];
  const moved = Math.floor((day + index) / (3 + (index % 5)));
  const seen: Seen = {
    A: [`192.0.2.${10 + index}`, `198.51.100.${(moved * 7 + index) % 200}`].sort(),
    AAAA: index % 3 === 0 ? [`2001:db8:${index}::${1 + (moved % 2)}`] : [],
    NS: house.ns,
    SOA: [`${house.ns[0]} hostmaster.example ${2026112100 + day} 7200 3600 1209600 300`],
    MX: house.mx,
    TXT: [house.txt, `site-verification=${'0123456789abcdef'.repeat(2).slice(index % 7)}`].sort(),
    CAA: index % 4 === 1 && day > 2 ? ['0 issue "letsencrypt.org"'] : [],
    HTTPS: index % 2 === 0 ? ['1 . alpn=h2,h3'] : [],
    DMARC: day > index ? ['v=DMARC1; p=reject; rua=mailto:dmarc@example.org'] : ['v=DMARC1; p=none'],
    WWW_A: [`192.0.2.${10 + index}`],
  };
  return seen;
}

/** Daily probes of a dozen invented hostnames over a number of days up to a time, in order. */
export function seededProbes(until: number, days: number): Probe[] {
  return Array.from({ length: days }, (_, day) =>
    NAMES.map((name, index) => {
      const at = until - (days - 1 - day) * DAY - (NAMES.length - index) * 300_000;
      const { issuer } = HOUSES[index % HOUSES.length] as (typeof HOUSES)[number];
      const renewed = Math.floor((day + index * 2) / 9) % 10;
      return probe(name, at, seenOn(index, day), {
        ...certificate(String(renewed), issuer),
        not_after: new Date(Date.UTC(2026, 10, 30 + renewed * 9 + index)).toISOString(),
      });
    }),
  ).flat();
}
