import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isMet, ruleText } from '../../src/records/expectation.ts';
import { DOCUMENT_MAX, readDocument } from '../../src/records/expectation-document.ts';
import { certificateText } from '../../src/records/tracked-values.ts';
import { Fault, problemsIn } from '../../src/shared/fault.ts';
import { certificate } from '../support/probes.ts';
import * as fc from '../support/properties.ts';

const known = {
  hasOrigins: true,
  refusal: (hostname: string) =>
    hostname.endsWith('.org') ? 'is not under watch; put it into one of your groups first' : null,
};
const rule = (signal: string, text: string) =>
  Object.values(readDocument(`names: { example.com: { ${signal}: ${text} } }`, known)['example.com'] ?? {})[0];

/** The problems of a document, as `field: message`. */
function problemsOf(text: string, of = known): string[] {
  try {
    readDocument(text, of);
  } catch (error) {
    assert(error instanceof Fault && error.code === 'invalid_request', String(error));
    return (problemsIn(error) ?? [{ field: '', message: error.message }]).map(
      ({ field, message }) => `${field}: ${message}`,
    );
  }
  return [];
}

test('each kind of rule is met by what it names and by nothing else', () => {
  const of = (signal: Parameters<typeof isMet>[0], text: string) => {
    const made = rule(signal, text);
    assert(made);
    return (...values: string[]) =>
      isMet(signal, made, values, (address) => (address.startsWith('192.') ? 64500 : null));
  };
  const exact = of('A', '{ values: [192.0.2.2, 192.0.2.1] }');
  assert(exact('192.0.2.1', '192.0.2.2'));
  assert(!exact('192.0.2.1') && !exact() && !exact('192.0.2.1', '192.0.2.2', '192.0.2.3'));
  const some = of('A', '{ values: [192.0.2.2, 192.0.2.1], subset: true }');
  assert(some('192.0.2.1') && some('192.0.2.1', '192.0.2.2') && !some() && !some('192.0.2.1', '192.0.2.3'));
  const none = of('A', '{ values: [] }');
  assert(none() && !none('192.0.2.1'));
  const v6 = of('AAAA', '{ prefixes: ["2001:DB8::/32"] }');
  assert(v6('2001:db8:1::1') && !v6('2001:db9::1') && !v6('2001:db8::1', '2001:db9::1') && !v6());
  const text = of('TXT', '{ prefixes: ["v=spf1 ", "site="] }');
  assert(text('v=spf1 -all', 'site=1') && !text('v=spf10'));
  const origin = of('A', '{ as: [64500] }');
  assert(origin('192.0.2.1') && !origin('10.0.0.1') && !origin());
  const made = rule('A', '{ as: [64500] }');
  assert(made && isMet('A', made, ['192.0.2.1']) === null, 'unknown without a table');
  const issuer = of('CERTIFICATE', '{ issuers: ["Let\'s Encrypt"] }');
  assert(
    issuer(certificateText(certificate('a'))) &&
      !issuer(certificateText(certificate('b', 'CN=x, O=Other'))) &&
      !issuer(),
  );
  const mail = of('MX', '{ providers: [google workspace, mail.example.net] }');
  assert(mail('1 aspmx.l.google.com', '5 a.mail.example.net', '9 mail.example.net'));
  assert(!mail('1 notmail.example.net') && !mail('1 aspmx.l.google.com.evil.test') && !mail());
  const names = of('NS', '{ providers: [Cloudflare DNS] }');
  assert(names('ada.ns.cloudflare.com') && !names('ns.evil.test'));
  const host = of('NS', '{ values: [NS1.Example.com., ns2.example.com] }');
  assert(host('ns1.example.com', 'ns2.example.com'));
  const soa = of('SOA', '{ values: ["a.example b.example 2026112701 7200 3600 1209600 300"] }');
  assert(soa('a.example b.example 7200 3600 1209600 300'));
});

test('an order of values is no difference', () => {
  const anyValues = fc.uniqueArray(fc.ipV4(), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(anyValues, fc.infiniteStream(fc.nat(7)), (values, picks) => {
      const shuffled = [...values].sort(() => (Number(picks.next().value) % 2) - 0.5);
      const made = rule('A', JSON.stringify({ values: shuffled }));
      assert(made && isMet('A', made, [...values].sort()));
    }),
  );
});

test('every problem of a document is reported at once, with its path, value and cure', () => {
  const text = `names:
  example.com:
    A: { values: [192.0.2.01, "*", 7] }
    AAAA: { prefixes: ["::/0"] }
    WWW_A: { prefixes: [0.0.0.0/1, 128.0.0.0/1, 10.0.0.0/33] }
    WWW_AAAA: { prefixes: ["2001:db8::/32"], as: [1] }
    TXT: { prefixes: [""] }
    MX: { providers: ["*", com] }
    NS: { as: [1] }
    CERTIFICATE: { values: [x] }
    CAA: { issuers: [x] }
    a: { values: [] }
    DS: {}
    SOA: { valeus: [] }
  EXAMPLE.com: { A: { values: [], subset: true } }
  example.org: { A: { values: [] } }
  "*.example.com": {}
`;
  assert.deepEqual(
    problemsOf(text).map((line) => line.replace(/(?<=must be one of A, ).*/, '…')),
    [
      'names.example.com.A.values[2]: 7: must be a text',
      'names.example.com.AAAA.prefixes: ["::/0"]: match every address; give the networks that are expected',
      'names.example.com.WWW_A.prefixes[2]: "10.0.0.0/33": is not a network; give a network of IPv4, such as 192.0.2.0/24',
      'names.example.com.WWW_A.prefixes: ["0.0.0.0/1","128.0.0.0/1","10.0.0.0/33"]: match every address; give the networks that are expected',
      'names.example.com.WWW_AAAA: {"prefixes":["2001:db8::/32"],"as":[1]}: has prefixes and as; give one of values, prefixes, as, issuers, providers',
      'names.example.com.TXT.prefixes[0]: "": matches everything; give how each value begins',
      'names.example.com.MX.providers[0]: "*": matches everything; name what is expected, or take the rule out',
      'names.example.com.MX.providers[1]: "com": is not a service of /services, nor the domain of hosts; give one',
      'names.example.com.NS.as: [1]: does not fit NS: only addresses have an origin; take it out',
      'names.example.com.CERTIFICATE.values: ["x"]: does not fit CERTIFICATE: a certificate is renewed; give issuers, or no values where there is to be none',
      'names.example.com.CAA.issuers: ["x"]: does not fit CAA: only CERTIFICATE has an issuer; take it out',
      'names.example.com.a: {"values":[]}: is not a type; it must be one of A, …',
      'names.example.com.DS: {}: has no rule; give one of values, prefixes, as, issuers, providers',
      'names.example.com.SOA.valeus: there is no field of this name; take it out or correct its spelling',
      'names.EXAMPLE.com: {"A":{"values":[],"subset":true}}: is example.com, which is there already; give each name once',
      'names.EXAMPLE.com.A.subset: true: of no values is nothing; leave it out',
      'names.example.org: {"A":{"values":[]}}: is not under watch; put it into one of your groups first',
      'names.*.example.com: {}: "*.example.com" is not a hostname: a wildcard is not watched; give one name below it',
      'names.*.example.com: {}: has no type; give one, such as A, or take the name out',
    ],
  );
  assert.match(
    problemsOf('names: { a.com: { A: { as: [1] } } }', { ...known, hasOrigins: false })[0] ?? '',
    /AS_TABLE/,
  );
});

test('what is no document at all is refused, whatever it is', () => {
  const bomb = `a: &a [x, x, x, x, x, x, x, x, x]\n${Array.from({ length: 12 }, (_, n) => `b${n}: &b${n} [${`*${n === 0 ? 'a' : `b${n - 1}`}, `.repeat(9)}]`).join('\n')}\nnames: {}`;
  for (const text of [
    '',
    'names',
    '[]',
    'names: []',
    'names: {}',
    'names: {a.com: 1}',
    'names: {',
    '\t',
    '{"names": null}',
    'a: 1\na: 2',
    bomb,
    `names: {a.com: {TXT: {values: ["\\u0000"]}}}`,
    'names: {a.com: {TXT: {values: ["\\uD800"]}}}',
    '%YAML 9.9\n---\nnames: !!js/function x',
    'x'.repeat(DOCUMENT_MAX + 1),
    `names: {a.com: {TXT: {values: ["${'x'.repeat(4_097)}"]}}}`,
  ]) {
    assert.notDeepEqual(problemsOf(text), [], text.slice(0, 60));
  }
  const many = Object.fromEntries(
    Array.from({ length: 1_001 }, (_, n) => [`n${n}.example.com`, { A: { values: [] } }]),
  );
  assert.match(problemsOf(JSON.stringify({ names: many }))[0] ?? '', /has 1001 names; the most are 1000/);
});

test('any JSON is read or refused with problems, and what is read comes back the same', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (value, rules) => {
      problemsOf(JSON.stringify(value));
      problemsOf(JSON.stringify({ names: { 'example.com': { A: rules, TXT: value } } }));
    }),
  );
  const text =
    'names: { Example.com: { A: { values: [192.0.2.2, 192.0.2.1] }, AAAA: { prefixes: ["2001:DB8::1/32"] } } }';
  const once = readDocument(text, known);
  assert.deepEqual({ ...readDocument(JSON.stringify({ names: once }), known) }, { ...once });
});

test('a rule is said in words', () => {
  const says = (signal: string, text: string) => {
    const made = rule(signal, text);
    assert(made);
    return ruleText(made);
  };
  assert.equal(says('A', '{ values: [] }'), 'no records');
  assert.equal(says('A', '{ values: [192.0.2.2, 192.0.2.1] }'), '192.0.2.1, 192.0.2.2');
  assert.equal(says('A', '{ values: [192.0.2.2, 192.0.2.1], subset: true }'), 'some of 192.0.2.1, 192.0.2.2');
  assert.equal(says('A', '{ as: [64501, 64500] }'), 'of AS64500, AS64501');
  assert.equal(says('A', '{ prefixes: [192.0.2.7/24] }'), 'within 192.0.2.0/24');
  assert.equal(says('TXT', '{ prefixes: [v=spf1] }'), 'beginning with v=spf1');
  assert.equal(says('CERTIFICATE', '{ issuers: [ACME] }'), 'issued by ACME');
  assert.equal(says('MX', '{ providers: [fastmail] }'), 'at Fastmail');
});
