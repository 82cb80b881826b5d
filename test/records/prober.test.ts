import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createServer } from 'node:tls';
import { SIGNAL_TYPES } from '../../src/proof/records/signal.ts';
import type { RecordType } from '../../src/records/probe/dns/message.ts';
import { parseProbe } from '../../src/records/probe/probe-schema.ts';
import { createProber } from '../../src/records/probe/prober.ts';
import { createResolver } from '../../src/records/probe/resolver.ts';
import { tempFolder } from '../support/app-context.ts';
import { selfSigned } from '../support/certificates.ts';
import { type DnsServer, delegationSigners, startKnot, startUnbound, WITHOUT_SERVERS } from '../support/dns-servers.ts';
import { answerTo, lyingServer } from '../support/lying-server.ts';

const ECH = 'AEX+DQBBTgAgACDHb5SDz0kC8TTyMvRDXQFbmRrYHO4';
const LONG = 'x'.repeat(200);

const ZONES = [
  {
    name: 'signed.example',
    signed: true,
    lines: [
      '@ 300 A 127.0.0.1',
      '@ 200 AAAA 2001:db8::1',
      '@ 60 MX 10 Mail',
      '@ 60 MX 0 Mail2.Elsewhere.Example.',
      '@ 60 TXT "v=spf1 -all"',
      '@ 60 TXT "in two " "strings; \\"\\\\\\195\\164"',
      '@ 60 CAA 0 issue "ca.example"',
      `@ 60 HTTPS 1 . alpn=h2,h3 ech=${ECH}=`,
      '@ 60 SVCB 1 svc port=853',
      '_443._tcp 60 TLSA 3 1 1 00FF',
      '_dmarc 60 TXT "v=DMARC1; p=reject"',
      'www 60 CNAME web',
      'web 30 A 192.0.2.7',
      'web 60 AAAA 2001:db8::7',
      'child 60 DS 12345 13 2 00112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF',
      'child 60 NS ns.elsewhere.example.',
      'lost 60 CNAME nowhere.elsewhere.example.',
      'round 60 CNAME round2',
      'round2 60 CNAME round',
      ...Array.from({ length: 30 }, (_, index) => `many 60 TXT "${String(index).padStart(2, '0')} ${LONG}"`),
      ...Array.from({ length: 501 }, (_, index) => `crowd 60 A 10.1.${index >> 8}.${index & 255}`),
    ],
  },
  { name: 'outside', lines: [] },
  { name: 'wild.example', lines: ['* 60 A 192.0.2.9', '*.alias 60 CNAME nowhere.example.', 'own 60 A 192.0.2.1'] },
];

let knot: DnsServer;
let unbound: DnsServer;
let bogus: DnsServer;
let knotAlone: ReturnType<typeof createResolver>;
let keys: string[];
let signers: string[];
const ends: (() => unknown)[] = [];
const scope = { after: (work: () => unknown) => void ends.unshift(work) };

before(async () => {
  if (WITHOUT_SERVERS) return;
  const folder = tempFolder(scope);
  // Once to make the keys, and again with a parent that vouches for them.
  await (await startKnot(join(folder, 'knot'), ZONES)).stop();
  signers = delegationSigners(join(folder, 'knot'), 'signed.example');
  const delegation = [
    'signed 300 NS ns.signed',
    'ns.signed 300 A 127.0.0.1',
    ...signers.map((ds) => `signed 90 DS ${ds}`),
  ];
  const parent = {
    name: 'example',
    signed: true,
    lines: [...delegation, 'wild 300 NS ns.wild', 'ns.wild 300 A 127.0.0.1'],
  };
  const zones = ['example', ...ZONES.map(({ name }) => name)];
  knot = await startKnot(join(folder, 'knot'), [parent, ...ZONES]);
  scope.after(() => knot.stop());
  knotAlone = createResolver({ servers: [knot] });
  scope.after(() => knotAlone.close());
  keys = (await knotAlone.ask('signed.example', 'DNSKEY')).values;
  const trusted = await knotAlone.ask('example', 'DNSKEY');
  const anchors = trusted.values.map((key) => `example. DNSKEY ${key}`);
  unbound = await startUnbound(join(folder, 'unbound'), { zones, server: knot, anchors });
  scope.after(() => unbound.stop());
  // The same zone with another's key for its own: what it says cannot be validated.
  const wrong = ['example. DS 1 13 2 0000000000000000000000000000000000000000000000000000000000000000'];
  bogus = await startUnbound(join(folder, 'bogus'), { zones, server: knot, anchors: wrong, first: 'outside' });
  scope.after(() => bogus.stop());
});

after(async () => {
  for (const end of ends) await end();
});

test('one probe at a host of a real server brings all of it, and passes as a scanner’s', {
  skip: WITHOUT_SERVERS,
}, async (t) => {
  const pair = selfSigned(tempFolder(t), { subject: '/O=Test/CN=signed.example', san: ['DNS:signed.example'] });
  const web = createServer(pair, (socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
  await once(web, 'listening');
  t.after(() => web.close());
  const tlsPort = (web.address() as AddressInfo).port;
  const prober = createProber({ servers: [unbound], tlsPrivate: ['127.0.0.1'], tlsPort, now: () => 1_700_000_000_000 });
  t.after(() => prober.close());
  const look = await prober.probe('signed.example');
  assert.deepEqual(Object.keys(look.signals).sort(), [...SIGNAL_TYPES].sort());
  assert.deepEqual(parseProbe(JSON.parse(JSON.stringify(look))), look);
  assert.partialDeepStrictEqual(look, { hostname: 'signed.example', at: 1_700_000_000_000, wildcard: false });
  assert.partialDeepStrictEqual(look.certificate, { fingerprint256: pair.fingerprint, san: ['signed.example'] });
  const seen = Object.fromEntries(
    Object.entries(look.signals).map(([type, { status, ttl, values, flags }]) => {
      assert.deepEqual(flags, { aa: false, ad: true, tc: false }, type);
      return [type, [status, ttl, ...values]];
    }),
  );
  const [, , soa] = seen.SOA ?? [];
  assert.match(String(soa), /^ns\.signed\.example hostmaster\.signed\.example \d+ 3600 600 86400 300$/);
  assert.deepEqual(seen, {
    A: ['ok', 300, '127.0.0.1'],
    AAAA: ['ok', 200, '2001:db8::1'],
    CNAME: ['nodata', null],
    NS: ['ok', 300, 'ns.signed.example'],
    SOA: ['ok', 300, soa],
    MX: ['ok', 60, '0 mail2.elsewhere.example', '10 mail.signed.example'],
    TXT: ['ok', 60, 'in two strings; "\\\\\\195\\164', 'v=spf1 -all'],
    CAA: ['ok', 60, '0 issue "ca.example"'],
    DS: ['ok', 90, ...signers],
    DNSKEY: ['ok', 300, ...keys],
    HTTPS: ['ok', 60, `1 . alpn=h2,h3 ech=${ECH}=`],
    SVCB: ['ok', 60, '1 svc.signed.example port=853'],
    TLSA: ['ok', 60, '3 1 1 00FF'],
    DMARC: ['ok', 60, 'v=DMARC1; p=reject'],
    WWW_A: ['ok', 30, '192.0.2.7'],
    WWW_AAAA: ['ok', 60, '2001:db8::7'],
    WWW_CNAME: ['ok', 60, 'web.signed.example'],
    WWW_HTTPS: ['nodata', null],
  });
});

test('names that are not there, or lead elsewhere, or round', { skip: WITHOUT_SERVERS }, async () => {
  const { ask } = knotAlone;
  const status = async (name: string, type: RecordType) => (await ask(name, type)).status;
  assert.equal(await status('nope.signed.example', 'A'), 'nxdomain');
  assert.equal(await status('web.signed.example', 'MX'), 'nodata');
  assert.equal(await status('lost.signed.example', 'A'), 'nodata');
  assert.equal(await status('round.signed.example', 'A'), 'loop');
  assert.equal(await status('round.signed.example', 'CNAME'), 'ok');
  assert.equal(await status('not.served', 'A'), 'refused');
  const ds = await ask('child.signed.example', 'DS');
  assert.deepEqual(ds.values, ['12345 13 2 00112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF']);
  // The parent knows where the child is, and no more.
  assert.deepEqual((await ask('child.signed.example', 'NS')).values, ['ns.elsewhere.example']);
  assert.equal(await status('child.signed.example', 'A'), 'error');
});

test('what does not fit a datagram comes by TCP; more than a record may hold is too many', {
  skip: WITHOUT_SERVERS,
}, async (t) => {
  const through = createResolver({ servers: [unbound] });
  t.after(() => through.close());
  for (const { ask } of [knotAlone, through]) {
    const many = await ask('many.signed.example', 'TXT');
    assert.partialDeepStrictEqual(many, { status: 'ok', transport: 'tcp', ttl: 60 });
    assert.deepEqual(
      many.values,
      Array.from({ length: 30 }, (_, index) => `${String(index).padStart(2, '0')} ${LONG}`),
    );
    assert.partialDeepStrictEqual(await ask('crowd.signed.example', 'A'), { status: 'too_many', values: [] });
  }
});

test('AD is what the resolver validated, and what it cannot validate is unknown', {
  skip: WITHOUT_SERVERS,
}, async (t) => {
  const through = (server: DnsServer) => {
    const resolver = createResolver({ servers: [server] });
    t.after(() => resolver.close());
    return resolver.ask;
  };
  assert.equal((await through(unbound)('signed.example', 'A')).flags.ad, true);
  assert.equal((await through(unbound)('nope.signed.example', 'A')).flags.ad, true);
  const unsigned = await through(unbound)('own.wild.example', 'A');
  assert.partialDeepStrictEqual(unsigned, { status: 'ok', flags: { ad: false } });
  assert.partialDeepStrictEqual(await knotAlone.ask('signed.example', 'A'), { flags: { aa: true, ad: false } });
  const { status, values } = await through(bogus)('signed.example', 'A');
  assert.equal(status, 'servfail');
  assert.deepEqual(values, []);
});

test('a wildcard is detected by a random name', { skip: WITHOUT_SERVERS }, async (t) => {
  const prober = createProber({ servers: [knot], tlsPrivate: [] });
  t.after(() => prober.close());
  const wildcard = async (name: string) => (await prober.probe(name)).wildcard;
  assert.equal(await wildcard('wild.example'), true);
  assert.equal(await wildcard('alias.wild.example'), true);
  assert.equal(await wildcard('own.wild.example'), false);
  assert.equal(await wildcard('signed.example'), false);
  assert.equal(await wildcard('child.signed.example'), null);
  assert.equal(await wildcard('not.served'), null);
});

test('a probe at a host whose servers fail knows nothing, and does not shake hands', {
  skip: WITHOUT_SERVERS,
}, async (t) => {
  const failing = await lyingServer(t, (heard) => [answerTo(heard, { rcode: 2 })]);
  const prober = createProber({ servers: [failing], tlsPrivate: ['127.0.0.1'], tries: 1 });
  t.after(() => prober.close());
  const look = await prober.probe('host.example');
  for (const type of SIGNAL_TYPES) assert.equal(look.signals[type].status, 'servfail', type);
  assert.partialDeepStrictEqual(look, { certificate: null, certificate_status: 'skipped', wildcard: null });
  assert.deepEqual(parseProbe(JSON.parse(JSON.stringify(look))), look);
  const names = new Set(failing.heard.map(({ query }) => query.questions?.[0]?.name.toLowerCase()));
  assert.equal(names.size, 5, 'the host, www, _dmarc, _443._tcp and one that nobody made');

  // The longest name there can be: what would stand before it is not asked.
  const longest = `${'abcdefgh.'.repeat(27)}abcdefghi`;
  const long = await prober.probe(longest);
  assert.deepEqual([long.signals.A.status, long.signals.WWW_A.status, long.wildcard], ['servfail', 'skipped', null]);
});

test('a host without an address is known to show no certificate, and a private one is left alone', {
  skip: WITHOUT_SERVERS,
}, async (t) => {
  const prober = createProber({ servers: [knot], tlsPrivate: [] });
  t.after(() => prober.close());
  const shown = async (name: string) => (await prober.probe(name)).certificate_status;
  assert.equal(await shown('nope.signed.example'), 'none');
  assert.equal(await shown('lost.signed.example'), 'none');
  assert.equal(await shown('signed.example'), 'skipped');
  assert.equal(await shown('round.signed.example'), 'skipped');
});
