import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AUTHORITATIVE_ANSWER, DNSSEC_OK, decode, encode, type Answer as Packed, RECURSION_DESIRED } from 'dns-packet';
import { readAnswer } from '../../src/records/probe/dns/answer.ts';
import { escapeBare, escapeLabel, escapeQuoted, escapeText } from '../../src/records/probe/dns/escape.ts';
import { RECORD_TYPES, type RecordType } from '../../src/records/probe/dns/message.ts';
import { matchAnswer, writeQuestion } from '../../src/records/probe/dns/question.ts';
import { svcbText } from '../../src/records/probe/dns/rdata.ts';
import { parseServer, serverText } from '../../src/records/probe/dns/upstream.ts';
import * as fc from '../support/properties.ts';

const NAME = 'host.example.com';

/** An answer that holds these records, from another implementation. */
function packed(type: RecordType, answers: object[]): Buffer {
  return encode({
    type: 'response',
    flags: AUTHORITATIVE_ANSWER,
    questions: [{ name: NAME, type: type as 'A' }],
    answers: answers.map((record) => ({ name: NAME, ttl: 60, class: 'IN', ...record })) as Packed[],
  });
}

function valuesOf(type: RecordType, answers: object[]): string[] {
  const { status, values } = readAnswer({ name: NAME, type }, packed(type, answers));
  assert.equal(status, 'ok');
  return values;
}

/** The bytes that an escaped text stands for (RFC 1035, section 5.1). */
function unescaped(text: string): Buffer {
  const bytes: number[] = [];
  for (const [, code, sign, plain] of text.matchAll(/\\(\d{3})|\\(.)|([^\\])/gs)) {
    bytes.push(code === undefined ? ((sign ?? plain) as string).charCodeAt(0) : Number(code));
  }
  return Buffer.from(bytes);
}

const octets = (max: number) => fc.uint8Array({ minLength: 1, maxLength: max });
const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,10}[a-z0-9])?$/);
const hostname = fc.array(label, { minLength: 1, maxLength: 5 }).map((labels) => labels.join('.'));

test('escaped text represents the same bytes in printable ASCII', () => {
  fc.assert(
    fc.property(octets(255), (bytes) => {
      for (const text of [escapeText(bytes), escapeBare(bytes), escapeQuoted(bytes)]) {
        assert.match(text, /^[ -~]*$/);
        assert.deepEqual(unescaped(text), Buffer.from(bytes));
      }
      assert.doesNotMatch(escapeBare(bytes), / /);
      const small = bytes.map((byte) => (byte >= 65 && byte <= 90 ? byte + 32 : byte));
      assert.equal(escapeLabel(bytes), escapeLabel(small));
      assert.deepEqual(unescaped(escapeLabel(bytes)), Buffer.from(small));
    }),
  );
});

test('what another implementation writes is read with the same values, sorted and each once', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.ipV4(), { minLength: 1, maxLength: 30 }), (addresses) => {
      const twice = [...addresses, ...addresses].map((data) => ({ type: 'A', data }));
      assert.deepEqual(valuesOf('A', twice), [...addresses].sort());
    }),
  );
  fc.assert(
    fc.property(hostname, hostname, fc.nat(65_535), fc.nat(2 ** 31), (host, other, number, large) => {
      assert.deepEqual(valuesOf('NS', [{ type: 'NS', data: host.toUpperCase() }]), [host]);
      assert.deepEqual(valuesOf('CNAME', [{ type: 'CNAME', data: host }]), [host]);
      assert.deepEqual(valuesOf('MX', [{ type: 'MX', data: { preference: number, exchange: host } }]), [
        `${number} ${host}`,
      ]);
      const data = {
        mname: host,
        rname: other,
        serial: large,
        refresh: number,
        retry: 3,
        expire: large,
        minimum: 0,
      };
      assert.deepEqual(valuesOf('SOA', [{ type: 'SOA', data }]), [`${host} ${other} ${large} ${number} 3 ${large} 0`]);
    }),
  );
  fc.assert(
    fc.property(octets(255), octets(255), octets(64), fc.nat(255), (one, two, digest, small) => {
      const [first, second, last] = [one, two, digest].map((bytes) => Buffer.from(bytes)) as [Buffer, Buffer, Buffer];
      const [text = ''] = valuesOf('TXT', [{ type: 'TXT', data: [first, second] }]);
      assert.deepEqual(unescaped(text), Buffer.concat([first, second]));
      const hex = last.toString('hex').toUpperCase();
      const ds = { keyTag: 9, algorithm: small, digestType: 2, digest: last };
      assert.deepEqual(valuesOf('DS', [{ type: 'DS', data: ds }]), [`9 ${small} 2 ${hex}`]);
      const tlsa = { usage: 3, selector: small, matchingType: 1, certificate: last };
      assert.deepEqual(valuesOf('TLSA', [{ type: 'TLSA', data: tlsa }]), [`3 ${small} 1 ${hex}`]);
      const key = { flags: 257, algorithm: 13, key: last };
      assert.deepEqual(valuesOf('DNSKEY', [{ type: 'DNSKEY', data: key }]), [`257 3 13 ${last.toString('base64')}`]);
    }),
  );
});

test('addresses, CAA and odd labels have one text each', () => {
  assert.deepEqual(
    valuesOf('AAAA', [
      { type: 'AAAA', data: '2001:DB8:0:0:1:0:0:1' },
      { type: 'AAAA', data: '::1' },
    ]),
    ['2001:db8::1:0:0:1', '::1'],
  );
  const caa = { flags: 128, issuerCritical: true, tag: 'Issue', value: 'ca.example; policy="x"' };
  assert.deepEqual(valuesOf('CAA', [{ type: 'CAA', data: caa }]), ['128 issue "ca.example; policy=\\"x\\""']);
  // A label may hold a dot, a blank or any byte: here in a SOA's mail address.
  const rdata = Buffer.concat([
    Buffer.from([1, 0x4e, 0, 6]),
    Buffer.from('A.b \xe9;', 'latin1'),
    Buffer.from([0]),
    Buffer.alloc(20),
  ]);
  assert.deepEqual(valuesOf('SOA', [{ type: 'UNKNOWN_6', data: rdata }]), ['n a\\.b\\032\\233\\; 0 0 0 0 0']);
  assert.deepEqual(valuesOf('MX', [{ type: 'UNKNOWN_15', data: Buffer.from([0, 0, 0]) }]), ['0 .']);
});

test('HTTPS and SVCB records are written as RFC 9460 has them', () => {
  const target = '03666f6f076578616d706c6503';
  const vectors: [hex: string, text: string][] = [
    [`0000${target}636f6d00`, '0 foo.example.com'],
    ['000100', '1 .'],
    [`0010${target}636f6d00000300020035`, '16 foo.example.com port=53'],
    [`0001${target}636f6d00029b000568656c6c6f`, '1 foo.example.com key667=hello'],
    [`0001${target}636f6d00029b000968656c6c6fd2716f6f`, '1 foo.example.com key667=hello\\210qoo'],
    [
      `0001${target}636f6d000006002020010db800000000000000000000000120010db8000000000000000000530001`,
      '1 foo.example.com ipv6hint=2001:db8::1,2001:db8::53:1',
    ],
    [
      `0010${target}6f7267000000000400010004000100090268320568332d313900040004c0000201`,
      '16 foo.example.org mandatory=alpn,ipv4hint alpn=h2,h3-19 ipv4hint=192.0.2.1',
    ],
    [`0010${target}6f7267000001000c08665c6f6f2c626172026832`, '16 foo.example.org alpn=f\\\\\\\\oo\\\\,bar,h2'],
    ['0001000002000000050002abcd', '1 . no-default-alpn ech=q80='],
  ];
  for (const [hex, text] of vectors) {
    const rdata = Buffer.from(hex, 'hex');
    assert.equal(svcbText(rdata, 0, rdata.length), text);
    assert.deepEqual(valuesOf('HTTPS', [{ type: 'UNKNOWN_65', data: rdata }]), [text]);
  }
  const broken = [
    '',
    '0001',
    '000100 0003',
    // Keys twice, and out of order.
    '000100 000300020035 000300020035',
    '000100 00040004c0000201 000300020035',
    // Lengths that do not fit their key, or the data.
    '000100 0003000135',
    '000100 00030003003500',
    '000100 000300020',
    '000100 00030004003500',
    '000100 00040003c00002',
    '000100 00010000',
    '000100 00010003036832',
    '000100 00050000',
    '000100 0002000100',
  ];
  for (const hex of broken) {
    const data = Buffer.from(hex.replaceAll(' ', ''), 'hex');
    const { status, values } = readAnswer(
      { name: NAME, type: 'HTTPS' },
      packed('HTTPS', [{ type: 'UNKNOWN_65', data }]),
    );
    assert.deepEqual([status, values], ['malformed', []], hex);
  }
});

test('data of the wrong length is malformed for every type', () => {
  const rdata: Partial<Record<RecordType, string>> = {
    A: 'c0000201',
    AAAA: '20010db8000000000000000000000001',
    NS: '016e00',
    CNAME: '016e00',
    MX: '0001016e00',
    SOA: `0000${'00'.repeat(20)}`,
    TXT: '0161',
  };
  for (const [name, hex] of Object.entries(rdata)) {
    const type = name as RecordType;
    const whole = Buffer.from(hex, 'hex');
    const read = (data: Buffer) =>
      readAnswer({ name: NAME, type }, packed(type, [{ type: `UNKNOWN_${RECORD_TYPES[type]}`, data }])).status;
    assert.equal(read(whole), 'ok', name);
    assert.equal(read(whole.subarray(0, -1)), 'malformed', `${name} too short`);
    assert.equal(read(Buffer.concat([whole, Buffer.from([5])])), 'malformed', `${name} too long`);
    assert.equal(read(Buffer.alloc(0)), 'malformed', `${name} empty`);
  }
});

test('any bytes and any mutated response parse to a status', () => {
  const statuses = new Set<string>();
  const read = (bytes: Uint8Array) => {
    for (const type of Object.keys(RECORD_TYPES) as RecordType[]) {
      const { status, values, ttl } = readAnswer({ name: NAME, type }, bytes);
      statuses.add(status);
      assert.equal(values.length > 0, status === 'ok');
      assert.equal(ttl !== null, status === 'ok');
    }
  };
  fc.assert(fc.property(fc.uint8Array({ maxLength: 600 }), read));
  const whole = packed('A', [
    { type: 'CNAME', data: 'other.example.com' },
    { type: 'A', name: 'other.example.com', data: '192.0.2.1' },
    { type: 'MX', data: { preference: 1, exchange: 'mail.example.com' } },
    { type: 'TXT', data: ['a', 'b'] },
    { type: 'UNKNOWN_65', data: Buffer.from('0001000003000200350004000004c0000201', 'hex') },
  ]);
  const bend = fc.record({ at: fc.nat(whole.length - 1), to: fc.nat(255) });
  fc.assert(
    fc.property(fc.array(bend, { maxLength: 4 }), fc.nat(whole.length), (bends, length) => {
      const bytes = Buffer.from(whole);
      for (const { at, to } of bends) bytes[at] = to;
      read(bytes);
      read(bytes.subarray(0, length));
    }),
    { numRuns: 500 },
  );
  const cut = Buffer.from(whole);
  cut[2] = (cut[2] ?? 0) | 0x02;
  read(cut);
  for (const status of ['ok', 'malformed', 'truncated']) assert.ok(statuses.has(status), status);
});

test('pointers that loop, point forward or never end are malformed', () => {
  const header = Buffer.from('000081800001000100000000', 'hex');
  const question = writeQuestion(NAME, 'A', { id: 0, mixed: null, edns: false }).bytes.subarray(12);
  const here = header.length + question.length;
  const tail = Buffer.from('00010001000000010004c0000201', 'hex');
  const pointer = (to: number) => Buffer.from([0xc0 | (to >> 8), to & 0xff]);
  const read = (...parts: Uint8Array[]) =>
    readAnswer({ name: NAME, type: 'A' }, Buffer.concat([header, question, ...parts])).status;
  assert.equal(read(pointer(12), tail), 'ok');
  assert.equal(read(pointer(here), tail), 'malformed');
  assert.equal(read(pointer(here + 2), pointer(here), tail), 'malformed');
  assert.equal(read(pointer(0x3fff), tail), 'malformed');
  assert.equal(read(Buffer.from([1, 0x61]), pointer(here), tail), 'malformed');
  assert.equal(read(Buffer.from([0x80]), tail), 'malformed');
  // A name of 64 labels that points to one of 100 is longer than a name may be.
  const long = Buffer.concat(Array.from({ length: 64 }, () => Buffer.from([1, 0x61])));
  const rdata = Buffer.concat([long, long, Buffer.from([0])]);
  assert.equal(read(rdata, tail), 'malformed');
});

test('no more pointers are followed than a name can have labels', () => {
  const read = (pointers: number) => {
    // The first record's data is a chain of pointers, each to the one before; the second's name is the last of them.
    const question = writeQuestion(NAME, 'A', { id: 0, mixed: null, edns: false }).bytes.subarray(12);
    const start = 12 + question.length + 12;
    const data = Buffer.alloc(2 * pointers);
    for (let at = 0; at < data.length; at += 2) data.writeUInt16BE(0xc000 | (at === 0 ? 12 : start + at - 2), at);
    const bytes = Buffer.concat([
      Buffer.from('000081800001000200000000', 'hex'),
      question,
      Buffer.from('c00cffff00010000000a', 'hex'),
      Buffer.from([data.length >> 8, data.length & 0xff]),
      data,
      Buffer.from([0xc0 | ((start + data.length - 2) >> 8), (start + data.length - 2) & 0xff]),
      Buffer.from('00010001000000010004c0000201', 'hex'),
    ]);
    return readAnswer({ name: NAME, type: 'A' }, bytes).status;
  };
  assert.equal(read(126), 'ok');
  assert.equal(read(127), 'malformed');
  assert.equal(read(8_000), 'malformed');
});

test('a question equals another implementation’s byte for byte, for any letters', () => {
  const opt = { type: 'OPT', name: '.', udpPayloadSize: 1_232, extendedRcode: 0, ednsVersion: 0, flag_do: true };
  const types = Object.entries(RECORD_TYPES) as [RecordType, number][];
  const spelling = fc.record({
    id: fc.nat(65_535),
    mixed: fc.option(fc.uint8Array({ minLength: 32, maxLength: 32 })),
    edns: fc.boolean(),
  });
  fc.assert(
    fc.property(hostname, fc.constantFrom(...types), spelling, (name, [type, number], { id, mixed, edns }) => {
      const { bytes } = writeQuestion(name, type, { id, mixed, edns });
      const [asked] = decode(Buffer.from(bytes)).questions ?? [];
      assert.equal(mixed === null ? asked?.name : asked?.name.toLowerCase(), name);
      // It knows HTTPS and SVCB by their numbers alone.
      const known = type === 'HTTPS' || type === 'SVCB' ? `UNKNOWN_${number}` : type;
      const theirs = encode({
        type: 'query',
        id,
        flags: RECURSION_DESIRED,
        questions: [{ name: asked?.name ?? '', type: known as 'A' }],
        additionals: edns ? ([{ ...opt, flags: DNSSEC_OK, options: [] }] as unknown as Packed[]) : [],
      });
      assert.equal(Buffer.from(bytes).toString('hex'), theirs.toString('hex'));
    }),
  );
});

test('a response is accepted only for its own id and question, in any spelling', () => {
  fc.assert(
    fc.property(hostname, fc.nat(65_535), fc.uint8Array({ minLength: 32, maxLength: 32 }), (name, id, mixed) => {
      const question = writeQuestion(name, 'HTTPS', { id, mixed, edns: true });
      const end = 12 + name.length + 2 + 4;
      const answer = Buffer.from(question.bytes);
      answer[2] = 0x81;
      assert.equal(
        answer
          .toString('latin1', 13, end - 5)
          .replace(/[^ -~]/g, '.')
          .toLowerCase(),
        name,
      );
      assert.equal(matchAnswer(question, answer), 'same');
      assert.equal(matchAnswer(question, question.bytes), 'other', 'the query itself');
      for (let at = 0; at < end; at++) {
        const bent = Buffer.from(answer);
        const old = bent[at] ?? 0;
        bent[at] = old ^ 0x20;
        const isLetter = at > 12 && at < end - 5 && /[a-z]/i.test(String.fromCharCode(old));
        const counts = at === 2 || at === 3 || (at >= 6 && at < 12);
        if (isLetter) assert.equal(matchAnswer(question, bent), 'respelled');
        else if (!counts) assert.equal(matchAnswer(question, bent), 'other', `byte ${at}`);
      }
      assert.equal(matchAnswer(question, answer.subarray(0, end - 1)), 'other');
    }),
    { numRuns: 50 },
  );
});

test('a chain of aliases is followed as the answer shows it, and its smallest TTL counts', () => {
  const chain = (count: number, last: object[]) => [
    ...Array.from({ length: count }, (_, index) => ({
      type: 'CNAME',
      name: index === 0 ? NAME : `c${index}.example`,
      data: `c${index + 1}.example`,
      ttl: 100 + index,
    })),
    ...last,
  ];
  const read = (answers: object[]) => readAnswer({ name: NAME, type: 'A' }, packed('A', answers));
  const end = { type: 'A', name: 'C3.Example', data: '192.0.2.1', ttl: 5_000 };
  assert.partialDeepStrictEqual(read(chain(3, [end])), { status: 'ok', values: ['192.0.2.1'], ttl: 100 });
  assert.partialDeepStrictEqual(read(chain(3, [end]).reverse()), { status: 'ok', values: ['192.0.2.1'] });
  assert.equal(read(chain(3, [])).status, 'nodata');
  assert.equal(read(chain(2, [end])).status, 'nodata');
  assert.equal(read(chain(2, [{ type: 'CNAME', name: 'c2.example', data: NAME }])).status, 'loop');
  assert.equal(read([{ type: 'CNAME', data: NAME }])?.status, 'loop');
  assert.equal(read([end]).status, 'malformed');
  const alias = readAnswer({ name: NAME, type: 'CNAME' }, packed('CNAME', [{ type: 'CNAME', data: NAME }]));
  assert.partialDeepStrictEqual(alias, { status: 'ok', values: [NAME] });
  const old = readAnswer({ name: NAME, type: 'A' }, packed('A', [{ type: 'A', data: '192.0.2.1', ttl: 2 ** 31 }]));
  assert.equal(old.ttl, 0);
});

test('resolvers are read as addresses with or without a port', () => {
  for (const [text, shown] of [
    ['192.0.2.1', '192.0.2.1:53'],
    ['192.0.2.1:5353', '192.0.2.1:5353'],
    ['2001:db8::1', '[2001:db8::1]:53'],
    ['[2001:db8::1]', '[2001:db8::1]:53'],
    ['[2001:db8::1]:5353', '[2001:db8::1]:5353'],
  ] as const) {
    const server = parseServer(text);
    assert.equal(server === null ? null : serverText(server), shown);
  }
  for (const text of [
    '',
    'a.example',
    '192.0.2',
    '192.0.2.1:',
    '192.0.2.1:0',
    '1.2.3.4:70000',
    '[192.0.2.1]',
    '::1:x',
  ]) {
    assert.equal(parseServer(text), null, text);
  }
});
