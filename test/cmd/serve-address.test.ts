import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempFolder, treeOf } from '../support/app-context.ts';
import { freePort } from '../support/free-port.ts';
import { run, until } from '../support/program.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

/** A page, once it is pressed for the address that it is to have. */
const pressedFor = (url: string, path: string, root: string): Promise<string> =>
  until(async () => {
    const answer = await fetch(`${url}${path}`);
    const text = await answer.text();
    return answer.status === 200 && text.includes(`<link rel="canonical" href="${root}/"`) ? text : null;
  });

/** No variable says where papers and records are. */
const UNSAID = { ORIGIN: '', DATA_ORIGIN: '' };

test('a server that takes free ports names them, and a command beside it keeps them', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: 'quay' }]);
  const server = await serveHere(t, folder, { ...UNSAID, PORT: '0', RECORDS_PORT: '0' });
  const text = async (path: string, at = server.url) => (await fetch(`${at}${path}`)).text();
  const root = `http://localhost:${new URL(server.url).port}/quay`;
  assert.match(await text('/'), new RegExp(`href="${root}/?"`));
  await pressedFor(server.url, '/quay/', root);
  assert.equal(JSON.parse(await text('/quay/api/v1/front')).paper.url, root);
  assert.match(await text('/', server.records), new RegExp(`http://localhost:${new URL(server.records).port}/`));
  const pressed = await run(t, folder, ['press'], UNSAID);
  assert.equal(pressed.code, 0, pressed.stderr);
  assert.match(readFileSync(join(folder, 'papers/quay/rss.xml'), 'utf8'), new RegExp(`<link>${root}/</link>`));
  await server.stop();
});

test('pages, feeds and the newsstand name the port that is listened on, and a command beside it keeps it', async (t) => {
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: 'quay' }]);
  const [port, recordsPort] = [String(await freePort()), String(await freePort())];
  const server = await serveHere(t, folder, { ...UNSAID, PORT: port, RECORDS_PORT: recordsPort });
  const text = async (path: string, at = server.url) => (await fetch(`${at}${path}`)).text();
  const root = `http://localhost:${port}/quay`;
  assert.match(await text('/'), new RegExp(`href="${root}/?"`));
  await pressedFor(server.url, '/quay/', root);
  // What the server still presses is waited for.
  assert.equal((await run(t, folder, ['press'], UNSAID)).code, 0);
  assert.match(await text('/quay/rss.xml'), new RegExp(`<link>${root}/</link>`));
  assert.equal(JSON.parse(await text('/quay/front.json')).paper.url, root);
  assert.match(await text('/', server.records), new RegExp(`http://localhost:${recordsPort}/`));

  // The variables of the server are not those of a shell beside it.
  const before = treeOf(join(folder, 'papers/quay'));
  const pressed = await run(t, folder, ['press'], UNSAID);
  assert.deepEqual(
    [pressed.code, pressed.stdout],
    [0, 'nothing left to press: the files on disk are up to date\n'],
    pressed.stderr,
  );
  assert.deepEqual(treeOf(join(folder, 'papers/quay')), before);
  await server.stop();

  // The next server is where it listens itself.
  const [other, otherRecords] = [String(await freePort()), String(await freePort())];
  const next = await serveHere(t, folder, { ...UNSAID, PORT: other, RECORDS_PORT: otherRecords });
  await pressedFor(next.url, '/quay/', `http://localhost:${other}/quay`);
  assert.equal((await run(t, folder, ['press'], UNSAID)).code, 0);
  await next.stop();
  assert.match(readFileSync(join(folder, 'papers/quay/rss.xml'), 'utf8'), new RegExp(`localhost:${other}/`));
});
