import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SIGNAL_TYPES } from '../../src/proof/records/signal.ts';
import { facetsOf, issuerName } from '../../src/records/facets.ts';
import { SERVICES, servicesOf } from '../../src/records/services.ts';
import { certificateText } from '../../src/records/tracked-values.ts';
import { certificate } from '../support/probes.ts';

const seen = (values: Parameters<typeof servicesOf>[0]): string[] =>
  servicesOf(values).map(({ service, kind, seen_in }) => `${kind} ${service} (${seen_in.join()})`);

test('services are recognized by the hosts and texts of the records', () => {
  assert.deepEqual(
    seen({
      MX: ['1 aspmx.l.google.com', '5 alt1.aspmx.l.google.com'],
      NS: ['ns-1.awsdns-01.co.uk', 'ns-2.awsdns-02.org'],
      CNAME: ['d111.cloudfront.net'],
      WWW_CNAME: ['d222.cloudfront.net'],
      TXT: [
        '"google-site-verification=abc"',
        '"MS=ms12345678"',
        '"v=spf1 include:_spf.google.com include:u1.wl.sendgrid.net -all"',
      ],
    }),
    [
      'cdn Amazon CloudFront (CNAME,WWW_CNAME)',
      'dns Amazon Route 53 (NS)',
      'verification Google (TXT)',
      'mail Google Workspace (MX)',
      'verification Microsoft (TXT)',
      'mail SendGrid (TXT)',
    ],
  );
});

test('a name that only resembles a service’s is not recognized, nor one in another type', () => {
  assert.deepEqual(seen({ MX: ['10 notgoogle.com', '10 google.com.example', '0 .'] }), []);
  assert.deepEqual(seen({ NS: ['aspmx.l.google.com'], A: ['192.0.2.1'] }), []);
  assert.deepEqual(seen({ NS: ['ns-1.awsdns-01.example', 'awsdns-01.com.example'] }), []);
  assert.deepEqual(seen({ TXT: ['"not google-site-verification=abc"', '"v=spf2 include:sendgrid.net"'] }), []);
  assert.deepEqual(seen({}), []);
});

test('a text of several strings is read as one, with or without its quotation marks', () => {
  assert.deepEqual(seen({ TXT: ['"google-site-" "verification=abc"'] }), ['verification Google (TXT)']);
  assert.deepEqual(seen({ TXT: ['google-site-verification=abc'] }), ['verification Google (TXT)']);
});

test('the table is sound: names in lower case, each service and kind once, types that are asked for', () => {
  const names = SERVICES.map(({ service, kind }) => `${kind} ${service}`);
  assert.equal(new Set(names).size, names.length);
  assert(SERVICES.length >= 50);
  for (const { service, hosts = {}, txt = [], spf = [], nameserver } of SERVICES) {
    assert(
      Object.keys(hosts).length + txt.length + spf.length > 0 || nameserver !== undefined,
      `${service} can be seen`,
    );
    for (const [type, ends] of Object.entries(hosts)) {
      assert((SIGNAL_TYPES as readonly string[]).includes(type), `${service}: ${type}`);
      for (const end of ends) assert.match(end, /^[a-z0-9-]+(\.[a-z0-9-]+)+$/, `${service}: ${end}`);
    }
    for (const text of [...txt, ...spf]) assert.equal(text, text.toLowerCase());
  }
});

test('a host counts once for each type, service, operator, issuer and day of expiry', () => {
  const stands = (...values: string[]) => ({ values, missing: [] });
  const facets = facetsOf({
    A: stands('192.0.2.1', '192.0.2.2'),
    AAAA: stands(),
    NS: stands('a.ns.example.net', 'b.ns.example.net'),
    MX: stands('0 .'),
    CERTIFICATE: stands(certificateText(certificate('a'))),
  });
  assert.deepEqual(facets.map(({ kind, name }) => `${kind} ${name}`).sort(), [
    'expiry 2027-01-30',
    "issuer Let's Encrypt",
    'nameserver example.net',
    'type A',
    'type MX',
    'type NS',
  ]);
});

test('an issuer is its organisation, else its common name, else all that it says', () => {
  assert.equal(issuerName("CN=R11, O=Let's Encrypt, C=US"), "Let's Encrypt");
  assert.equal(issuerName('O=Acme\\, Inc., CN=x'), 'Acme, Inc.');
  assert.equal(issuerName('CN=localhost'), 'localhost');
  assert.equal(issuerName('OU=x'), 'OU=x');
  assert.equal(issuerName(''), '');
});
