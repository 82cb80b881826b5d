import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import pino from 'pino';
import { listenDesk } from '../../api/server.ts';
import { append } from '../../src/desk/append.ts';
import { PressQueue } from '../../src/desk/jobs/press-queue.ts';
import { makePaperKey, revokePaperKey } from '../../src/desk/papers/paper-keys.ts';
import type { Proof } from '../../src/proof/proof.ts';
import { rotateKey } from '../../src/signing/signing.ts';
import { appContextIn, createPaper, PAPER, tempFolder } from '../support/app-context.ts';
import { cosignAll } from '../support/cosign-all.ts';
import { ask } from '../support/http.ts';
import { airAgain, publish, revise, withdraw } from '../support/newsroom.ts';

const SLUG = 'tide';
const PATH = `/${PAPER}/api/v1/stories/${SLUG}/proof`;

test('a cached proof is never older than a change by another process', async (t) => {
  // Closes the servers first, then the database, and removes the folder last.
  const endings: (() => unknown)[] = [];
  const inside = { after: (work: () => unknown) => void endings.unshift(work) };
  t.after(async () => {
    for (const end of endings) await end();
  });
  const folder = tempFolder(inside);
  const clock = { now: Date.parse('2026-11-20T12:00:00Z') };
  const more = { ORIGIN: 'http://papers.example' };
  const [app, other] = [appContextIn(inside, folder, clock, more), appContextIn(inside, folder, clock, more)];
  createPaper(other);
  const logger = pino({ level: 'silent' });
  const serve = () => listenDesk({ app, presses: new PressQueue(app), logger });
  const desk = await serve();
  inside.after(desk.close);
  const { key, made } = makePaperKey(other, PAPER, { level: 'read', name: 'A reader' });
  const headers = { 'x-nrf-key': key };

  /** The proof, which is what a server that keeps nothing yet says: as text, compressed, and by id. */
  const proof = async (): Promise<Proof> => {
    const fresh = await serve();
    const { status, text } = await ask(fresh.url, PATH, headers);
    await fresh.close();
    assert.equal(status, 200, text);
    const { id } = JSON.parse(text) as Proof;
    for (const path of [PATH, PATH.replace(SLUG, id), PATH]) {
      const kept = await ask(desk.url, path, headers);
      assert.deepEqual([kept.status, kept.text], [200, text], path);
      assert.equal(kept.headers['cache-control'], 'private, no-store');
      assert.equal(kept.headers.etag, undefined);
    }
    const zipped = await ask(desk.url, PATH, { ...headers, 'accept-encoding': 'gzip' });
    assert.equal(String(gunzipSync(zipped.body)), text);
    const head = await ask(desk.url, PATH, headers, 'HEAD');
    assert.deepEqual([head.text, head.headers['content-length']], ['', String(Buffer.byteLength(text))]);
    return JSON.parse(text) as Proof;
  };

  publish(other, 'another');
  publish(other, SLUG);
  assert.equal((await proof()).log, null);
  cosignAll(other);
  const logged = await proof();
  assert.notEqual(logged.log, null);
  revise(other, SLUG, { headline: 'Corrected', correction: 'It said otherwise.' });
  const revised = await proof();
  assert.deepEqual([revised.revision, revised.basis.headline, revised.log], [2, 'Corrected', null]);
  cosignAll(other);
  publish(other, 'one-more');
  cosignAll(other);
  const before = await proof();
  withdraw(other, SLUG);
  assert.deepEqual(await proof(), before, 'what was filed stays proved');
  // Of a piece that is off the air, nothing that readers see changes.
  revise(other, SLUG, { headline: 'Off the air' });
  assert.equal((await proof()).revision, 3);
  airAgain(other, SLUG);
  rotateKey(other);
  revise(other, SLUG, { headline: 'By another key' });
  assert.equal((await proof()).receipt_verify.vkeys.length, 2);

  const record = (body: object) =>
    other.store.database.transact(() =>
      append(other.store.desk, { type: 'record', at: clock.now, paper: PAPER, kind: 'paper', name: '', body }),
    );
  const { slug: _, edition: __, changed_at: ___, ...paper } = other.store.desk.archive(PAPER).paper();
  record({ ...paper, url: 'https://ledger.example' });
  assert.match((await proof()).receipt_verify.keys_url, /^https:\/\/ledger\.example\//);
  record({ ...paper, paper_public: false });
  await proof();
  const status = async (more: Record<string, string>) => (await ask(desk.url, PATH, more)).status;
  assert.equal(await status({}), 404, 'a private paper looks like none');
  revokePaperKey(other, PAPER, made.id);
  assert.equal(await status(headers), 401);
});
