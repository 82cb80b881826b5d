import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { openStore } from '../../src/store/store.ts';
import { envIn, tempFolder } from '../support/app-context.ts';
import { freePort } from '../support/free-port.ts';
import { run, serveAtOnce, start, until } from '../support/program.ts';
import { enterPapers } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const PAPER = 'tide-table';

/** As many as take longer than it takes to see the first of them. */
const PIECES = 600;

/** An archive. */
function archiveIn(folder: string): string {
  const file = join(folder, 'archive.jsonl');
  const lines = Array.from({ length: PIECES }, (_, n) =>
    JSON.stringify({
      slug: `piece-${n}`,
      headline: `Piece ${n}`,
      dek: 'At six.',
      section: 'Sea',
      kind: 'news',
      published_at: '2019-05-20T00:00:00Z',
      prose: `One.[^1] Two.[^2] ${`What happened at the quay on day ${n}. `.repeat(20)}`,
      cited_facts: [
        { n: 1, statement: 'One.', source: 'NIST', instrument: 'FIPS 180-4', claim_key: null },
        { n: 2, statement: 'Two.', source: 'IETF', instrument: 'RFC 2119', claim_key: null },
      ],
      authors: ['Grace Person'],
      license: 'CC BY 4.0',
      origin: 'example.org/a.md',
    }),
  );
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

for (const [signal, expected] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  test(`an import that gets ${signal} beside a server ends between two transactions; the next one does the rest`, {
    skip: ONLY_WIDE,
  }, async (t) => {
    const folder = tempFolder(t);
    await enterPapers(folder, [{ slug: PAPER }]);
    const serving = await serveAtOnce(t, folder);
    const args = ['import', archiveIn(folder), '--paper', 'quay', '--create', '--air', '--no-press', '--json'];
    const filed = async () => {
      const listed = await run(t, folder, ['paper', 'list', '--json']);
      const papers = JSON.parse(listed.stdout) as { slug: string; on_air: number }[];
      return papers.find(({ slug }) => slug === 'quay')?.on_air ?? 0;
    };
    const importing = start(t, folder, args);
    await until(async () => ((await filed()) > 0 || importing.child.exitCode !== null ? true : null));
    importing.child.kill(signal);
    const { code, signal: killed } = await importing.ended;
    assert.deepEqual([code, killed], [expected, null]);
    assert.equal((await serving.stop()).code, 0);
    const store = openStore({ file: join(folder, 'var/broadsheet.db') });
    assert.deepEqual([...store.desk.ledgerFaults(), ...store.desk.indexFaults(() => {})], []);
    store.database.close();
    const { stdout, code: rest } = await run(t, folder, args);
    const { filed: now, unchanged } = JSON.parse(stdout) as { filed: number; unchanged: number };
    assert.equal(rest, 0);
    assert.equal(now + unchanged, PIECES);
    assert.ok(unchanged > 0, 'some were filed before the signal');
  });
}

test('a server that is stopped during startup starts nothing more', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  const [port, records] = [await freePort(), await freePort()];
  const { child, said, ended } = start(t, folder, ['serve'], {
    ...envIn(folder),
    PORT: String(port),
    RECORDS_PORT: String(records),
  });
  // The records listen first. The desk and all pages are still to come.
  await until(
    () =>
      new Promise<true | null>((resolve) => {
        const socket = connect(records, '127.0.0.1');
        socket.on('connect', () => resolve(true)).on('error', () => resolve(null));
        socket.on('close', () => socket.destroy()).end();
      }),
  );
  child.kill('SIGTERM');
  assert.equal((await ended).code, 0);
  assert.equal(said.stdout, '', 'it does not say that it is ready');
});
