import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameAndParents, parseHostname } from '../../src/records/hostname.ts';
import { Fault } from '../../src/shared/fault.ts';
import * as fc from '../support/properties.ts';

const TAKEN: [text: string, hostname: string, unicode: string, registrable: string | null][] = [
  ['example.com', 'example.com', 'example.com', 'example.com'],
  ['WWW.Example.COM.', 'www.example.com', 'www.example.com', 'example.com'],
  ['a.b.example.co.uk', 'a.b.example.co.uk', 'a.b.example.co.uk', 'example.co.uk'],
  ['co.uk', 'co.uk', 'co.uk', null],
  ['pages.github.io', 'pages.github.io', 'pages.github.io', 'pages.github.io'],
  ['host.zone.test', 'host.zone.test', 'host.zone.test', 'zone.test'],
  ['MÜNCHEN.de', 'xn--mnchen-3ya.de', 'münchen.de', 'xn--mnchen-3ya.de'],
  ['XN--MNCHEN-3YA.de', 'xn--mnchen-3ya.de', 'münchen.de', 'xn--mnchen-3ya.de'],
  ['straße.de', 'xn--strae-oqa.de', 'straße.de', 'xn--strae-oqa.de'],
  ['日本。jp', 'xn--wgv71a.jp', '日本.jp', 'xn--wgv71a.jp'],
  ['президент.рф', 'xn--d1abbgf6aiiy.xn--p1ai', 'президент.рф', 'xn--d1abbgf6aiiy.xn--p1ai'],
  ['r3---sn-abc.example.com', 'r3---sn-abc.example.com', 'r3---sn-abc.example.com', 'example.com'],
  ['1.example.com', '1.example.com', '1.example.com', 'example.com'],
  ['x.1e100.net', 'x.1e100.net', 'x.1e100.net', '1e100.net'],
  ['0x7f.example', '0x7f.example', '0x7f.example', '0x7f.example'],
  [`${'a'.repeat(63)}.example.com`, `${'a'.repeat(63)}.example.com`, `${'a'.repeat(63)}.example.com`, 'example.com'],
];

for (const [text, hostname, unicode, registrable_domain] of TAKEN) {
  test(`${text} is a hostname`, () => {
    assert.deepEqual(parseHostname(text), { hostname, unicode, registrable_domain });
  });
}

/** A name of this many characters, of labels of 49 or less. */
const nameOf = (length: number): string =>
  `${'a'.repeat(49)}.`
    .repeat(10)
    .slice(0, length - 4)
    .replace(/\.$/, 'a')
    .concat('.com');

const REFUSED: [text: string, why: RegExp][] = [
  ['', /it is empty/],
  ['com', /one label only/],
  ['localhost', /one label only/],
  ['.', /an empty label/],
  ['a..b.com', /an empty label/],
  ['.example.com', /an empty label/],
  ['example.com..', /an empty label/],
  ['0x7f.1', /addresses are not watched/],
  ['127.0.0.1', /addresses are not watched/],
  ['1.2.3.4.', /addresses are not watched/],
  ['１２７．０．０．１', /addresses are not watched/],
  ['example.0x', /addresses are not watched/],
  ['256.256.256.999', /addresses are not watched/],
  ['::1', /addresses are not watched/],
  ['2001:db8::1', /addresses are not watched/],
  ['::ffff:192.0.2.1', /addresses are not watched/],
  ['[::1]', /addresses are not watched/],
  ['*.example.com', /a wildcard is not watched/],
  ['_dmarc.example.com', /no underscores/],
  ['a_b.example.com', /no underscores/],
  ['-a.example.com', /the label -a may contain only/],
  ['a-.example.com', /the label a- may contain only/],
  [`${'a'.repeat(64)}.com`, /has 64 characters; a label has at most 63/],
  [`${'ü'.repeat(60)}.com`, /a label has at most 63|cannot be written in A-labels/],
  [nameOf(254), /has 254 characters; a name has at most 253/],
  [nameOf(255), /has 255 characters/],
  ['a'.repeat(5000), /it has 5000 characters/],
  ['i❤.ws', /a character that IDNA2008 does not allow/],
  ['💩.la', /a character that IDNA2008 does not allow/],
  ['xn--ls8h.la', /a character that IDNA2008 does not allow/],
  ['1️⃣.com', /a character that IDNA2008 does not allow/],
  ['xn--a.com', /does not decode to a Unicode label/],
  ['xn--.com', /does not decode to a Unicode label|may contain only/],
  ['xn--abc.com', /does not decode to a Unicode label/],
  ['xn--example-.com', /may contain only|does not decode/],
  ['a\u200db.com', /cannot be written in A-labels/],
  ['http://example.com', /the name alone/],
  ['example.com:443', /the name alone/],
  ['example.com/path', /the name alone/],
  ['user@example.com', /the name alone/],
  ['exa mple.com', /the name alone/],
  ['exa\u3000mple.com', /cannot be written|the name alone|a character/],
  ['example.com\n', /the name alone/],
  ['exa\u0000mple.com', /the name alone/],
  ['a%2e.com', /the name alone/],
  ['ex\ud800ample.com', /the name alone/],
  ["o'neil.com", /may contain only letters/],
];

for (const [text, why] of REFUSED) {
  test(`${JSON.stringify(text).slice(0, 60)} is refused, with the cure`, () => {
    assert.throws(
      () => parseHostname(text),
      (error) => {
        assert(error instanceof Fault);
        assert.equal(error.code, 'invalid_request');
        assert.match(error.message, why);
        assert(error.message.length < 400, 'a long text is not sent back whole');
        return true;
      },
    );
  });
}

test('a name of 253 characters is accepted', () => assert.equal(parseHostname(nameOf(253)).hostname.length, 253));

test('every accepted name is sound: labels, lengths, canonical form, idempotent', () => {
  const label = fc.oneof(
    fc.stringMatching(/^[a-z0-9-]{1,66}$/),
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.constantFrom('xn--mnchen-3ya', 'xn--', 'XN--A', '0x1', '1', 'é', '🎈', '。', '*', '_x', '\u0301'),
  );
  const text = fc.oneof(
    fc.array(label, { maxLength: 6 }).map((labels) => labels.join('.')),
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.domain(),
  );
  const numRuns = 2_000;
  let taken = 0;
  fc.assert(
    fc.property(text, (name) => {
      let parsed: ReturnType<typeof parseHostname>;
      try {
        parsed = parseHostname(name);
      } catch (error) {
        assert(error instanceof Fault, String(error));
        return;
      }
      taken++;
      const { hostname, unicode, registrable_domain } = parsed;
      assert(hostname.length <= 253);
      for (const part of hostname.split('.')) assert.match(part, /^(?!-)[a-z0-9-]{1,63}(?<!-)$/);
      assert.equal(new URL(`https://${hostname}/`).hostname, hostname, 'a URL reads the same name');
      assert.deepEqual(parseHostname(hostname), parsed);
      assert.equal(parseHostname(unicode).hostname, hostname);
      assert(registrable_domain === null || `.${hostname}`.endsWith(`.${registrable_domain}`));
    }),
    { numRuns },
  );
  assert(taken > fc.runsOf(numRuns) / 10, `only ${taken} were taken`);
});

test('every domain that URLs accept is accepted, unless it is another kind of name', () => {
  fc.assert(
    fc.property(fc.domain(), (name) => {
      fc.pre(!name.includes('xn--'));
      assert.equal(parseHostname(name).hostname, name.toLowerCase());
    }),
  );
});

test('the names above a name end before its last label', () => {
  assert.deepEqual(nameAndParents('a.b.example.com'), ['a.b.example.com', 'b.example.com', 'example.com']);
});

test('a refusal names the signs that would turn its own words round', () => {
  assert.throws(() => parseHostname('\u202e<b>.example'), /^Fault: "\\u202e<b>\.example" is not a hostname/);
});
