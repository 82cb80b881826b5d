import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { verify } from '../../packages/verify/src/verify.ts';
import { verifyAt } from '../../src/operate/audit/verify.ts';
import { fetched, LONGEST_DOCUMENT, readText } from '../../src/operate/audit/verify-sources.ts';
import { checkProof } from '../../src/parts/client/verify/check.ts';
import { NotIJson, parseIJson } from '../../src/proof/i-json.ts';
import { jwks } from '../../src/proof/keyring.ts';
import { keysFromVkeys, type Proof } from '../../src/proof/proof.ts';
import { caught } from '../../src/shared/fault.ts';
import { PROJECT } from '../../src/shared/project.ts';
import { printable, printableJson } from '../../src/shared/terminal/output.ts';
import { tempFolder } from '../support/app-context.ts';
import { alteredMembers } from '../support/each-field.ts';
import { run } from '../support/program.ts';
import * as fc from '../support/properties.ts';
import { ONLY_WIDE } from '../support/wide.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const OBEYED = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const KILO = Buffer.alloc(1000, 'a');

/** A site that answers each path in its own bad way. */
const ANSWERS: Record<string, (response: ServerResponse) => void> = {
  '/never': () => {},
  '/stalls': (response) => void response.write('{"id":'),
  '/drips': (response) => {
    const drip = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(drip));
  },
  '/endless': (response) => {
    const more = () => {
      while (!response.destroyed && response.write(KILO));
    };
    response.on('drain', more);
    more();
  },
  '/bomb': (response) => {
    response.setHeader('content-encoding', 'gzip');
    response.end(gzipSync(Buffer.alloc(300_000)));
  },
  '/breaks': (response) => {
    response.write('{');
    setTimeout(() => response.destroy(), 20);
  },
  '/short': (response) => void response.end('{"é":1}'),
};

async function site(t: { after(end: () => void): void }): Promise<string> {
  const server = createServer((request, response) => ANSWERS[request.url ?? '']?.(response)).listen(0, '127.0.0.1');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a response has limits of time and size, and its faults are one line', async (t) => {
  const root = await site(t);
  // Only those that are to end by a clock have a short one: a busy machine is silent, too.
  const limits = { bytes: 100_000, silence: 60_000, whole: 60_000 };
  const short = { '/never': { silence: 400 }, '/stalls': { silence: 400 }, '/drips': { whole: 3_000 } };
  const cases: [path: string, why: RegExp][] = [
    ['/never', /\/never did not answer within 0\.4 s$/],
    ['/stalls', /\/stalls stopped in the middle of its response for 0\.4 s$/],
    ['/drips', /\/drips took longer than 3 s to answer$/],
    ['/endless', /\/endless is longer than \d+ kB, the most that is checked/],
    ['/bomb', /\/bomb is longer than/],
    ['/breaks', /\/breaks did not answer \(.+\)$/],
  ];
  await Promise.all(
    cases.map(([path, message]) =>
      assert.rejects(fetched(root + path, 'something else', { ...limits, ...short[path as keyof typeof short] }), {
        name: 'Fault',
        code: 'unavailable',
        message,
      }),
    ),
  );
  assert.equal(await fetched(`${root}/short`, 'something else', limits), '{"é":1}');
});

test('verify of an address or a file that is too much ends with one line and code 2', async (t) => {
  const root = await site(t);
  const folder = tempFolder(t);
  const large = join(folder, 'large.json');
  writeFileSync(large, '');
  truncateSync(large, 3 * 2 ** 30);
  mkdirSync(join(folder, 'paper/stories/a/proof.json'), { recursive: true });
  for (const [where, code, why] of [
    [`${root}/endless`, 2, /^broadsheet: \S+\/endless is longer than 64 MB, the most that is checked; .*\n$/],
    [`${root}/breaks`, 2, /^broadsheet: \S+\/breaks did not answer .*\n$/],
    [large, 2, /^broadsheet: \S+large\.json is longer than 64 MB, the most that is checked; .*\n$/],
    [join(folder, 'paper'), 1, /proof\.json cannot be read \(EISDIR.*\n1 proof checked, 1 does not hold/],
  ] as const) {
    const outcome = await run(t, folder, ['verify', where]);
    assert.match(outcome.stdout + outcome.stderr, why);
    assert.equal(outcome.code, code);
  }
  await assert.rejects(readText(large, 'less', LONGEST_DOCUMENT), { code: 'unavailable' });
});

test('nothing that verify prints from a document moves a terminal', async (t) => {
  const folder = tempFolder(t);
  const id = '\u001b[2K\rok: the hash holds\u009b1A\u202e\nok: the chain holds';
  const file = join(folder, 'forged.json');
  writeFileSync(file, JSON.stringify({ id, revision: id, generations: [], content_hash: id }));
  for (const args of [[file], [file, '--json']]) {
    const { stdout, stderr, code } = await run(t, folder, ['verify', ...args]);
    assert.equal(code, 1);
    assert.doesNotMatch((stdout + stderr).replaceAll('\n', ''), OBEYED);
    assert.doesNotMatch(stdout, /^ok:/m);
    if (args.length > 1) assert.equal((JSON.parse(stdout) as { id: string }[])[0]?.id, id, 'as JSON it is what it was');
  }
});

test('a shown text is one line without controls, and shown JSON is the same value', () => {
  const text = fc.string({
    unit: fc.constantFrom(...'a\u0000\u001b\n\r\t\u007f\u0085\u009b\u061c\u200e\u2028\u202e\u2069é😀\\"'),
  });
  fc.assert(
    fc.property(text, (value) => {
      assert.doesNotMatch(printable(value), OBEYED);
      assert.doesNotMatch(printableJson([value]), OBEYED);
      assert.deepEqual(JSON.parse(printableJson([value])), [value]);
      if (!OBEYED.test(value)) assert.equal(printable(value), value);
    }),
    { numRuns: 300 },
  );
});

const VECTORS = join(PROJECT, 'test/vectors/proof/valid');
const vector = (file: string): Proof =>
  (JSON.parse(readFileSync(join(VECTORS, file), 'utf8')) as { proof: Proof }).proof;

test('what is no id and no revision is not printed as one', async (t) => {
  const file = join(tempFolder(t), 'proof.json');
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  for (const odd of [deep, '1e400', '{}', 'true']) {
    const text = JSON.stringify({ ...vector('a-first-revision.json'), id: '@', revision: '@' });
    writeFileSync(file, text.replaceAll('"@"', odd));
    const [checked] = await verifyAt(file);
    assert.match(
      JSON.stringify(checked),
      /"id":null,"revision":null,"faults":\["this is not a proof record: id is not a text"/,
    );
  }
});

/** Members that a proof may lack; the rest may be there and is not signed, or is checked by the other two alone. */
const OPTIONAL = /^(hash_basis|receipt_verify\.vkeys|log|clock|reviews|evidence(\[0\]\.observation)?)$/;

test('a proof of which any member was altered does not hold, or the member is named as unsigned', {
  skip: ONLY_WIDE,
}, async (t) => {
  const file = join(tempFolder(t), 'proof.json');
  const seen = new Set<string>();
  for (const name of readdirSync(VECTORS)) {
    const proof = vector(name);
    const { receipt_verify: how, reviews = [], evidence = [] } = proof;
    const keys = jwks(
      keysFromVkeys([how.vkey, ...(how.vkeys ?? []), ...[...reviews, ...evidence].map((one) => one.vkey)]),
    );
    for (const { path, what, text } of alteredMembers(proof)) {
      const where = `${path}: ${what}`;
      if (seen.has(where)) continue;
      seen.add(where);
      const isAbsent = what === 'missing' || what === 'a list' || what === 'null';
      const mayHold = (unsigned: string[]) =>
        unsigned.some((one) => path.startsWith(one)) || (isAbsent && OPTIONAL.test(path)) || what === 'missing';
      writeFileSync(file, text);
      const [checked] = await verifyAt(file);
      assert.ok(checked);
      JSON.stringify(checked);
      if (!mayHold(checked.unsigned)) assert.ok(checked.faults.length > 0, where);
      const verdict = await verify(text);
      assert.equal(verdict.holds, checked.faults.length === 0, where);
      const parsed = caught(NotIJson, () => parseIJson(text));
      const { checks, unsigned } = checkProof({ proof: parsed, keys }, proof);
      // The page takes the keys from the paper’s document, and has its own check of the log.
      if (mayHold(unsigned) || /^(receipt_verify|log)\b/.test(path)) continue;
      assert.ok(!checks.every(({ holds }) => holds), `${where}, on the page`);
    }
  }
  assert.ok(seen.size > 1_000, `${seen.size} alterations`);
});
