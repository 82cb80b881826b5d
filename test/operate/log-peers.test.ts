import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pino from 'pino';
import { fileStory } from '../../src/desk/file-story.ts';
import { tlogProofText } from '../../src/proof/log/log-proof.ts';
import { nodeCrypto, readPolicy } from '../../src/proof/log/node-crypto.ts';
import { logTree } from '../../src/proof/log/tree.ts';
import { verifyTlogProof } from '../../src/proof/log/verify.ts';
import { type AppContext, deskOf } from '../../src/server/context.ts';
import { startLog } from '../../src/signing/log/log-job.ts';
import { openLogKey } from '../../src/signing/log/log-key.ts';
import { checkLog } from '../../src/signing/log/open-witnesses.ts';
import { appContextIn, createPaper, envIn, filing, PAPER, tempFolder, treeOf } from '../support/app-context.ts';
import { growLog } from '../support/log-leaves.ts';
import {
  LOG_FSCK,
  type PeerWitness,
  serveFiles,
  startLitewitness,
  startOmniwitness,
  without,
} from '../support/log-peers.ts';
import { publish } from '../support/newsroom.ts';
import { serve, until } from '../support/program.ts';
import { relayTo } from '../support/relay.ts';
import { ONLY_WIDE } from '../support/wide.ts';

/** The job that signs our logs, with witnesses that nobody here wrote. */

const run = promisify(execFile);
const CHILD = fileURLToPath(new URL('../support/log-child.ts', import.meta.url));
const SETTINGS = { LOG_ORIGIN: 'papers.example/log', ORIGIN: 'https://papers.example' };
const silent = pino({ level: 'silent' });
const lite = without('litewitness', 'ssh-agent', 'ssh-add', 'ssh-keygen');
const stranger = lite || without('tlog-verify');
const all =
  lite ||
  without('omniwitness', 'generate_keys', 'tlog-verify') ||
  (LOG_FSCK === null && 'needs the fsck of logs on the PATH');

/** A desk in a folder of its own, with the clock of this machine. */
class Desk {
  readonly folder: string;
  readonly #t: TestContext;
  readonly #env: Record<string, string>;

  constructor(t: TestContext, env: Record<string, string> = SETTINGS) {
    this.#t = t;
    this.#env = { ...env };
    this.folder = tempFolder(t);
  }

  /** Another desk whose folder is a copy of this one. */
  copy(): Desk {
    const copy = new Desk(this.#t, this.#env);
    cpSync(this.folder, copy.folder, { recursive: true });
    return copy;
  }

  /** Its log, as a witness has to know it. */
  log(): { origin: string; vkey: string } {
    const app = this.open();
    app.signer.open();
    const { origin, vkey } = openLogKey(app, 'desk');
    app.close();
    return { origin, vkey };
  }

  /** Writes the policy of its witnesses; they all must sign. */
  trust(witnesses: { url: string; vkeys: string[] }[]): void {
    const keys = witnesses.flatMap(({ url, vkeys }) => vkeys.map((vkey) => ({ vkey, url })));
    const lines = keys.map(({ vkey, url }, at) => `witness w${at} ${vkey} ${url}\n`).join('');
    const names = keys.map((_, at) => `w${at}`).join(' ');
    writeFileSync(join(this.folder, 'policy'), `${lines}group every all ${names}\nquorum every\n`);
    this.#env.LOG_POLICY = join(this.folder, 'policy');
  }

  env(): Record<string, string> {
    return { ...this.#env };
  }

  open(): AppContext {
    return appContextIn(this.#t, this.folder, clock, this.#env);
  }

  /** Opens it as a server does at its start, and signs its log until `stop`. */
  async start(): Promise<{ app: AppContext; stop(): Promise<void> }> {
    const app = this.open();
    app.signer.open();
    await checkLog(app, 'desk', silent);
    const stopLog = startLog(app, 'desk', silent);
    let stopped: Promise<void> | null = null;
    const stop = () => {
      stopped ??= stopLog().then(() => app.close());
      return stopped;
    };
    this.#t.after(stop);
    return { app, stop };
  }
}

const clock = {
  get now() {
    return Date.now();
  },
};

const cosignedSize = ({ store }: AppContext): number =>
  store.database.log.newestCosigned('desk', SETTINGS.LOG_ORIGIN)?.size ?? 0;
const untilCosigned = (app: AppContext, size: number) => until(() => (cosignedSize(app) >= size ? true : null));
const untilFenced = ({ store }: AppContext) => until(() => store.database.log.fence('desk'));

const entryAt = ({ store }: AppContext, index: number): string =>
  store.database.log.entries('desk', index, index + 1)[0] ?? '';

/** The proof of a leaf, from the first cosigned head over it. */
function proofOf({ store }: AppContext, index: number): string {
  const head = store.database.log.firstCosignedOver('desk', index);
  assert.ok(head?.cosigned);
  const path = logTree(head.size, store.database.log.tiles('desk')).inclusionProof(index);
  return tlogProofText({ index, path, checkpoint: head.cosigned, extra: null });
}

/** Holds the published files and some proofs against the programs of others. */
async function acceptedOutside(
  t: TestContext,
  desk: Desk,
  app: AppContext,
  { log, omni, other }: { log: { vkey: string }; omni: PeerWitness; other: PeerWitness },
): Promise<void> {
  const size = app.store.database.log.size('desk');
  const files = [...treeOf(join(desk.folder, 'log/desk'))];
  const served = await serveFiles(t, new Map(files.map(([path, text]) => [path, Buffer.from(text, 'latin1')])));
  const folder = tempFolder(t);
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const checked = await run(LOG_FSCK ?? '', [
    `--storage_url=${served}`,
    `--public_key=${file('log.pub', log.vkey)}`,
    '--ui=false',
  ]);
  assert.match(checked.stderr, /Successfully fsck'd log/);
  // This program knows no ML-DSA-44, so that witness stands in our policy alone.
  const pair = `log ${log.vkey}\nwitness omni ${omni.vkeys[0]}\nwitness lite ${other.vkeys[0]}\n`;
  const policy = file('policy', `${pair}group both all omni lite\nquorum both\n`);
  assert.match(
    (await run('tlog-verify', ['log', policy, served])).stdout,
    new RegExp(`^${size} entries read and authenticated`),
  );
  const ours = readPolicy(`${pair}witness quantum ${omni.vkeys[1]}\ngroup g all omni lite quantum\nquorum g\n`);
  for (const index of [0, 1, 255, 256, 599, size - 1]) {
    const entry = entryAt(app, index);
    const proof = proofOf(app, index);
    await run('tlog-verify', ['proof', policy, file('proof', proof), file('entry', entry)]);
    await assert.rejects(run('tlog-verify', ['proof', policy, file('proof', proof), file('entry', `${entry}\n`)]));
    assert.equal((await verifyTlogProof(entry, proof, ours, nodeCrypto)).cosigners.length, 3);
  }
}

test('omniwitness and litewitness cosign a growing log; fsck and tlog-verify accept it', {
  skip: ONLY_WIDE || all,
}, async (t) => {
  const desk = new Desk(t);
  const log = desk.log();
  const omni = await startOmniwitness(t, tempFolder(t), log);
  const other = await startLitewitness(t, tempFolder(t), log);
  desk.trust([omni, other]);
  const { app, stop } = await desk.start();
  const sizes = [1, 256, 257, 600, 1_000];
  for (const size of sizes) {
    growLog(app, 'desk', size);
    await untilCosigned(app, size);
  }
  const heads = [...app.store.database.log.heads('desk')];
  assert.ok(heads.every(({ cosigned }) => cosigned?.match(/^— witness\.example/gm)?.length === 3));
  await until(() => (treeOf(join(desk.folder, 'log/desk')).get('checkpoint')?.includes('\n1000\n') ? true : null));

  for (const index of [0, 1, 255, 256, 599, 999]) {
    const head = app.store.database.log.firstCosignedOver('desk', index);
    assert.equal(
      head?.size,
      sizes.find((size) => size > index),
      'the first head over a leaf proves it',
    );
  }
  await acceptedOutside(t, desk, app, { log, omni, other });
  await stop();
});

test('a witness that is down holds up no filing, and signs when it is back', { skip: ONLY_WIDE || lite }, async (t) => {
  const desk = new Desk(t);
  const witness = await startLitewitness(t, tempFolder(t), desk.log());
  const relay = await relayTo(t, witness.url);
  desk.trust([{ ...witness, url: relay.url }]);
  const { app, stop } = await desk.start();
  createPaper(app);
  relay.isDown = true;
  const receipts = Array.from({ length: 5 }, (_, at) =>
    fileStory(deskOf(app), PAPER, filing(`s${at}`), { by: 'test' }),
  );
  assert.equal(receipts.length, 5);
  const state = () => app.store.database.log.witness('desk', SETTINGS.LOG_ORIGIN, witness.vkeys[0] ?? '');
  await until(() => (state().failures >= 2 ? true : null));
  assert.match(state().fault ?? '', /closed the connection/);
  assert.equal(cosignedSize(app), 0);
  relay.isDown = false;
  await untilCosigned(app, app.store.database.log.size('desk'));
  assert.equal(state().fault, null);
  await stop();
});

test('of an honest server and its copy, the second to go on is refused and signs no more', {
  skip: ONLY_WIDE || lite,
}, async (t) => {
  const desk = new Desk(t);
  const witness = await startLitewitness(t, tempFolder(t), desk.log());
  desk.trust([witness]);
  const before = await desk.start();
  createPaper(before.app);
  fileStory(deskOf(before.app), PAPER, filing('shared'), { by: 'test' });
  await untilCosigned(before.app, before.app.store.database.log.size('desk'));
  await before.stop();
  const copy = desk.copy();
  const [one, two] = [await desk.start(), await copy.start()];
  fileStory(deskOf(one.app), PAPER, filing('of-the-one'), { by: 'test' });
  await untilCosigned(one.app, one.app.store.database.log.size('desk'));
  // The copy has no way to know yet. Its receipt is in no cosigned head.
  fileStory(deskOf(two.app), PAPER, filing('of-the-copy'), { by: 'test' });
  const fence = await untilFenced(two.app);
  assert.match(
    fence,
    /^witness "w0": .*another copy of this log signs too: stop one of them, and restore the newest copy/,
  );
  assert.throws(() => fileStory(deskOf(two.app), PAPER, filing('more'), { by: 'test' }), {
    code: 'unavailable',
    message: `nothing is signed: ${fence}`,
  });
  assert.ok(cosignedSize(two.app) < two.app.store.database.log.size('desk'));
  fileStory(deskOf(one.app), PAPER, filing('and-on'), { by: 'test' });
  await untilCosigned(one.app, one.app.store.database.log.size('desk'));
  assert.equal(one.app.store.database.log.fence('desk'), null);
  // A restart does not help the copy.
  await two.stop();
  const again = await copy.start();
  assert.match(again.app.store.database.log.fence('desk') ?? '', /^witness "w0": the witness /);
  await again.stop();
  await one.stop();
});

test('yesterday’s copy is fenced by its witness at startup, and the newest copy continues', {
  skip: ONLY_WIDE || lite,
}, async (t) => {
  const desk = new Desk(t);
  const witness = await startLitewitness(t, tempFolder(t), desk.log());
  const relay = await relayTo(t, witness.url);
  desk.trust([{ ...witness, url: relay.url }]);
  const path = (name: string) => join(desk.folder, name);
  const first = await desk.start();
  createPaper(first.app);
  fileStory(deskOf(first.app), PAPER, filing('of-yesterday'), { by: 'test' });
  await untilCosigned(first.app, first.app.store.database.log.size('desk'));
  await first.stop();
  cpSync(path('var'), path('yesterday'), { recursive: true });
  const second = await desk.start();
  fileStory(deskOf(second.app), PAPER, filing('of-today'), { by: 'test' });
  const size = second.app.store.database.log.size('desk');
  await untilCosigned(second.app, size);
  await second.stop();
  // The published files are lost as well: otherwise they would tell.
  renameSync(path('var'), path('newest'));
  rmSync(path('log'), { recursive: true });
  cpSync(path('yesterday'), path('var'), { recursive: true });
  const restored = await desk.start();
  const fence = restored.app.store.database.log.fence('desk');
  assert.match(
    fence ?? '',
    new RegExp(`^witness "w0": the witness has seen a tree of ${size} leaves, and this log has`),
  );
  assert.throws(() => fileStory(deskOf(restored.app), PAPER, filing('more'), { by: 'test' }), { code: 'unavailable' });
  assert.equal(
    restored.app.store.desk.archive(PAPER).storyBySlug('of-yesterday')?.revision,
    1,
    'what it has is served',
  );
  await restored.stop();
  relay.isDown = true;
  const unheard = await desk.start();
  assert.equal(unheard.app.store.database.log.fence('desk'), fence, 'also while the witness is silent');
  await unheard.stop();
  relay.isDown = false;
  rmSync(path('var'), { recursive: true });
  renameSync(path('newest'), path('var'));
  const newest = await desk.start();
  assert.equal(newest.app.store.database.log.fence('desk'), null);
  fileStory(deskOf(newest.app), PAPER, filing('of-tomorrow'), { by: 'test' });
  await untilCosigned(newest.app, newest.app.store.database.log.size('desk'));
  await newest.stop();
});

test('a server that is killed between an answer and its commit gets it again, and a stranger can check', {
  skip: ONLY_WIDE || stranger,
}, async (t) => {
  const desk = new Desk(t);
  const witness = await startLitewitness(t, tempFolder(t), desk.log());
  const relay = await relayTo(t, witness.url);
  desk.trust([{ ...witness, url: relay.url }]);
  const app = desk.open();
  createPaper(app);
  publish(app, 'one');
  const env = { ...desk.env(), SERVICES: 'desk' };
  relay.isDown = true;
  const killed = await serve(t, desk.folder, env);
  relay.answered = () => void killed.child.kill('SIGKILL');
  relay.isDown = false;
  await killed.ended;
  assert.equal(relay.requests, 1);
  assert.equal(cosignedSize(app), 0, 'nothing was committed');
  relay.answered = () => {};
  const again = await serve(t, desk.folder, env);
  await untilCosigned(app, app.store.database.log.size('desk'));
  assert.equal(app.store.database.log.fence('desk'), null);

  // The press follows. A stranger has an address, and a program of somebody else.
  const proof = await until(async () => {
    const response = await fetch(`${again.url}/${PAPER}/stories/one/proof.json`);
    const { receipt, log } = (await response.json()) as { receipt: string; log: { tlog_proof: string } | null };
    return log === null ? null : { receipt, text: log.tlog_proof };
  });
  const [folder, policy] = [tempFolder(t), await (await fetch(`${again.url}/log/policy`)).text()];
  const [policyFile, proofFile, entryFile] = ['policy', 'proof', 'entry'].map((name) => join(folder, name));
  writeFileSync(policyFile ?? '', policy);
  writeFileSync(proofFile ?? '', proof.text);
  writeFileSync(entryFile ?? '', proof.receipt);
  const verified = await run('tlog-verify', ['proof', policyFile ?? '', proofFile ?? '', entryFile ?? '']);
  assert.match(verified.stdout, /^the proof holds/);
  // The checkpoint is published a round later.
  await until(async () => {
    const checkpoint = await (await fetch(`${again.url}/log/checkpoint`)).text();
    return checkpoint.includes('\n— witness.example/lite ') ? true : null;
  });
  const whole = await run('tlog-verify', ['log', policyFile ?? '', `${again.url}/log/`]);
  assert.match(whole.stdout, /entries read and authenticated/);
  await again.stop();
});

test('10,000 leaves in random batches with kills form one log for everybody', { skip: ONLY_WIDE || all }, async (t) => {
  const desk = new Desk(t);
  const log = desk.log();
  const omni = await startOmniwitness(t, tempFolder(t), log);
  const other = await startLitewitness(t, tempFolder(t), log);
  desk.trust([omni, other]);
  const grow = (size: number) => {
    const env = { ...process.env, ...envIn(desk.folder), ...desk.env() };
    const child = spawn(process.execPath, [CHILD, String(size)], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    t.after(() => child.kill('SIGKILL'));
    return child;
  };
  for (let kill = 1; kill <= 8; kill++) {
    const child = grow(10_000);
    const ended = once(child, 'exit');
    for (let round = 1 + (kill % 3); round > 0; round--) await Promise.race([once(child.stdout, 'data'), ended]);
    await pause(Math.random() * 300);
    child.kill('SIGKILL');
    await ended;
  }
  const app = desk.open();
  const [code] = await once(grow(10_000), 'exit');
  assert.equal(code, 0);
  assert.equal(app.store.database.log.size('desk'), 10_000);
  assert.equal(app.store.database.log.fence('desk'), null);
  await acceptedOutside(t, desk, app, { log, omni, other });
});
