import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { originsOf, originTable } from '../../src/records/origins.ts';
import { tempFolder } from '../support/app-context.ts';
import * as fc from '../support/properties.ts';
import { ONLY_WIDE } from '../support/wide.ts';

test('an address has the origin of its longest prefix, in either form of table', () => {
  const prefixes = originTable(
    '# pfx2as\n10.0.0.0\t8\t64500\n10.1.0.0\t16\t64501_64502\n10.1.2.0\t24\t64503,64504\n2001:db8::\t32\t64505\n2001:db8:1::\t48\t64506\n255.0.0.0\t8\t64507\nffff::\t16\t64508\n',
    'table',
  );
  const cases: [string, number | null][] = [
    ['9.255.255.255', null],
    ['10.0.0.0', 64500],
    ['10.1.0.1', 64501],
    ['10.1.2.0/24', 64503],
    ['10.1.3.0', 64501],
    ['10.2.0.0', 64500],
    ['11.0.0.0', null],
    ['255.255.255.255', 64507],
    ['2001:db8::1', 64505],
    ['2001:db8:1::/48', 64506],
    ['2001:db8:2::', 64505],
    ['2001:db9::', null],
    ['ffff:ffff:ffff:ffff:ffff::', 64508],
    ['no address', null],
  ];
  for (const [address, asn] of cases) assert.equal(prefixes(address), asn, address);
  const ranges = originTable(
    '1.0.0.0\t1.0.0.255\t13335\tUS\tCLOUDFLARENET\r\n1.0.1.0\t1.0.3.255\t0\tNone\tNot routed\n',
    't',
  );
  assert.equal(ranges('1.0.0.77'), 13335);
  assert.equal(ranges('1.0.1.0'), null);
});

test('any prefixes answer as a search of all of them does', () => {
  const anyPrefix = fc.tuple(fc.nat(2 ** 16 - 1), fc.integer({ min: 16, max: 32 }), fc.integer({ min: 1, max: 9 }));
  const textOf = (n: number) => `10.20.${n >> 8}.${n & 255}`;
  fc.assert(
    fc.property(
      fc.array(anyPrefix, { maxLength: 20 }),
      fc.array(fc.nat(2 ** 16 - 1), { minLength: 1 }),
      (given, asked) => {
        // One origin for each prefix: of two, the table does not say which counts.
        const prefixes = [
          ...new Map(given.map(([base, bits, asn]) => [`${(base >> (32 - bits)) << (32 - bits)}/${bits}`, asn])),
        ];
        const rows = prefixes.map(([name, asn]) => ({
          base: Number(name.split('/')[0]),
          bits: Number(name.split('/')[1]),
          asn,
        }));
        const table = originTable(
          rows.map(({ base, bits, asn }) => `${textOf(base)}\t${bits}\t${asn}`).join('\n'),
          't',
        );
        for (const n of asked) {
          const [best] = rows
            .filter(({ base, bits }) => n >> (32 - bits) === base >> (32 - bits))
            .sort((a, b) => b.bits - a.bits);
          assert.equal(table(textOf(n)), best?.asn ?? null);
        }
      },
    ),
  );
});

test('a table of the size of the Internet takes time in proportion, 12 bytes for each range, and names a wrong last line', {
  skip: ONLY_WIDE,
}, () => {
  // Every /22 of 0.0.0.0 to 224.0.0.0, a /24 within each fourth of them, and as many /48: sorted, as such files are.
  const textOf = (count: number): string => {
    const lines: string[] = [];
    for (let n = 0; lines.length < count; n++) {
      const start = `${n >>> 14}.${(n >>> 6) & 255}.${(n & 63) << 2}.0`;
      if (n < 14_000 * 64) lines.push(`${start}\t22\t${1 + (n % 400_000)}`);
      if (n % 4 === 0 && n < 14_000 * 64) lines.push(`${start}\t24\t${500_000 + (n % 1_000)}`);
      lines.push(`2${(n >>> 16).toString(16).padStart(3, '0')}:${(n & 65_535).toString(16)}::\t32\t${n + 1}`);
    }
    return `${lines.join('\n')}\n`;
  };
  const load = (count: number) => {
    const text = textOf(count);
    const before = process.memoryUsage().arrayBuffers;
    const began = process.cpuUsage();
    const table = originTable(text, 'table');
    const { user, system } = process.cpuUsage(began);
    return { table, text, each: (user + system) / count, kept: process.memoryUsage().arrayBuffers - before };
  };
  load(10_000);
  const [small, large] = [load(100_000), load(1_000_000)];
  assert(large.each < 3 * small.each, `${large.each} µs for each of 1,000,000 prefixes, ${small.each} of 100,000`);
  assert(large.kept <= 12 * 1_500_000, `${large.kept} bytes`);
  assert.deepEqual(
    ['0.0.0.9', '0.0.1.9', '1.2.64.0/24', '1.2.65.1', '2000:9::1', '2000:ffff::', '255.1.1.1', '3000::1'].map(
      large.table,
    ),
    [500_000, 1, 500_528, 16_529, 10, 65_536, null, null],
  );
  const lines = large.text.split('\n').length;
  assert.throws(() => originTable(`${large.text}10.0.0.0 8 1`, 'table'), new RegExp(`line ${lines} of table is "10`));
});

test('a table that is wrong or missing is named with its line', (t) => {
  const folder = tempFolder(t);
  const says = (name: string) => () => originsOf({ asTable: join(folder, name) });
  writeFileSync(join(folder, 'good.gz'), gzipSync('10.0.0.0\t8\t64500\n'));
  assert.equal(says('good.gz')()?.('10.9.9.9'), 64500);
  assert.equal(originsOf({ asTable: undefined }), undefined);
  for (const line of [
    '10.0.0.0/8 64500',
    '10.0.0.0\t33\t1',
    '10.0.0.9\t10.0.0.1\t1',
    '10.0.0.0\t8\tAS1',
    '10.0.0.0\t8\t4294967296',
    '10.0.0.0\t2001::\t1',
    '\0',
  ]) {
    writeFileSync(join(folder, 'bad'), `\n${line}\n`);
    assert.throws(says('bad'), /AS_TABLE: line 2 of .*bad is ".*"; give "prefix/);
  }
  assert.throws(says('missing'), /AS_TABLE: .*missing cannot be read \(ENOENT\)/);
  writeFileSync(join(folder, 'bad.gz'), 'no gzip');
  assert.throws(says('bad.gz'), /AS_TABLE: .*bad\.gz cannot be read/);
});
