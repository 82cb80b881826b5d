import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { LONG_PROSE, ProsePool } from '../../src/app/prose-pool.ts';
import { cachedWords, parsedProse } from '../../src/desk/prose-cache.ts';
import { indexText, proseWords } from '../../src/desk/search.ts';
import { Fault } from '../../src/fault.ts';
import { filingProblems } from '../../src/ledger/door.ts';
import { PROSE_MAX } from '../../src/ledger/piece.ts';
import { parseProse, plainText } from '../../src/ledger/prose.ts';
import { filing, tempFolder } from '../support/app-context.ts';

const RULES = { sections: ['Time'], personas: ['osric-tamblyn'], source_floor: 0, hasMedia: () => false };
/** Prose that breaks a rule of each kind, of any length; no two have the same words. */
const prose = (name: string, length = 2 * LONG_PROSE): string =>
  `${name}.[^7]\n\n${`<b>a ![x](media/${name}.svg "[^1]") [b](javascript:x)\n\n`.repeat(length / 50)}`.slice(0, length);

async function faultOf(work: Promise<unknown>): Promise<Fault> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof Fault, String(error));
  return error;
}

/** The code of a thread, in a file of its own. */
function threadOf(folder: string, code: string): URL {
  const file = join(folder, 'thread.mjs');
  writeFileSync(
    file,
    `import { parentPort } from 'node:worker_threads';\nparentPort.on('message', (prose) => {${code}});\n`,
  );
  return pathToFileURL(file);
}

const READING = { reading: parseProse('a'), words: 'a' };

test('long prose is read on another thread, and judged as it is here', async (t) => {
  const readers = new ProsePool();
  t.after(() => readers.close());
  const text = prose('alike');
  await readers.prepare('p', text);
  assert.equal(cachedWords(text), proseWords(plainText(text)));
  const { plain: _plain, ...judged } = parseProse(text);
  assert.deepEqual(parsedProse(text), judged);
  const piece = filing('alike', { prose: text });
  assert.deepEqual(filingProblems(piece, RULES, parsedProse), filingProblems(piece, RULES));
  assert.equal(
    indexText('p', piece),
    indexText('p', { ...piece, prose: `${text} ` }),
    'what is not kept reads the same',
  );
});

test('short prose, and what is too long to be taken, start no thread', async (t) => {
  const readers = new ProsePool({ code: threadOf(tempFolder(t), 'process.exit(3)') });
  await readers.prepare('p', prose('short', LONG_PROSE));
  await readers.prepare('p', 'x'.repeat(PROSE_MAX + 1));
});

test('what takes too long is refused with its field and its cure, and the next one is read', async (t) => {
  const folder = tempFolder(t);
  const code = threadOf(
    folder,
    `if (prose.startsWith('slow')) for (;;); parentPort.postMessage(${JSON.stringify(READING)})`,
  );
  const readers = new ProsePool({ cpu: 100, threads: 1, code });
  t.after(() => readers.close());
  const slow = readers.prepare('p', prose('slow'));
  const next = readers.prepare('p', prose('next'));
  const { code: rule, details } = await faultOf(slow);
  assert.equal(rule, 'refused_by_door');
  assert.deepEqual(details, {
    problems: [
      {
        field: 'prose',
        rule: 'too_heavy',
        message:
          'parsing this prose takes more than 0.1 s of CPU time, or too much memory; split the piece, or use less mark-up',
      },
    ],
  });
  await next;
  assert.equal(cachedWords(prose('next')), 'a');
});

test('a thread that takes too much memory is ended, and so is its filing', async (t) => {
  const code = threadOf(
    tempFolder(t),
    'const all = []; for (;;) all.push(new Array(1e6).fill(prose.length + all.length))',
  );
  const { details } = await faultOf(new ProsePool({ code, cpu: 60_000, wait: 60_000 }).prepare('p', prose('much')));
  assert.match(JSON.stringify(details), /too_heavy/);
});

test('a thread that fails is no fault of the filing, and the next one is read', async (t) => {
  for (const end of ['throw new Error("broken")', 'process.exit(3)']) {
    const code = threadOf(
      tempFolder(t),
      `if (prose.startsWith('bad')) ${end}; parentPort.postMessage(${JSON.stringify(READING)})`,
    );
    const readers = new ProsePool({ threads: 1, code });
    t.after(() => readers.close());
    const [bad, good] = [readers.prepare('p', prose(`bad ${end}`)), readers.prepare('p', prose(`good ${end}`))];
    assert.equal((await faultOf(bad)).code, 'unavailable', end);
    await good;
  }
});

test('papers take turns, and one of them cannot fill the queue', async (t) => {
  const code = threadOf(tempFolder(t), `setTimeout(() => parentPort.postMessage(${JSON.stringify(READING)}), 20)`);
  const readers = new ProsePool({ threads: 1, code });
  t.after(() => readers.close());
  const order: string[] = [];
  const ask = (whose: string, name: string) =>
    readers.prepare(whose, prose(`${whose} ${name}`)).then(() => void order.push(whose));
  const many = Array.from({ length: 9 }, (_, n) => ask('many', String(n)));
  assert.equal((await faultOf(ask('many', 'more'))).code, 'unavailable');
  const one = ask('one', 'alone');
  await Promise.all([...many, one]);
  assert.ok(order.indexOf('one') <= 2, order.join(' '));
  assert.equal(order.length, 10);
});
