import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { auditApp } from '../../src/app/audit.ts';
import { openAppContext } from '../../src/app/context.ts';
import { readSettings } from '../../src/env.ts';
import { createPaper, endBeforeRemoval, envIn, tempFolder } from '../support/app-context.ts';
import { without } from '../support/log-peers.ts';
import { until } from '../support/program.ts';
import { BUCKET, CREDENTIALS, startVersitygw } from '../support/s3-server.ts';

const CONFIG = fileURLToPath(new URL('../../deploy/litestream.yml', import.meta.url));
const WRITER = fileURLToPath(new URL('./writer-child.ts', import.meta.url));

/** Receipts older than this are in the bucket (docs/backup.md), in ms. */
const BOUND = 5_000;
/** How often something is killed: 200 times in `.ci/wide litestream`. */
const KILLS = Number(process.env.LITESTREAM_KILLS ?? 3);

/** A receipt that a writer gave out, and the time of it. */
type Receipt = [slug: string, at: number];

class Stand {
  readonly folder: string;
  readonly receipts: Receipt[] = [];
  readonly #t: TestContext;
  readonly #env: NodeJS.ProcessEnv;
  #runs = 0;

  constructor(t: TestContext, folder: string, endpoint: string) {
    this.#t = t;
    this.folder = folder;
    // Litestream does not start while the first variable is set.
    const { AWS_CA_BUNDLE: _, ...env } = process.env;
    this.#env = {
      ...env,
      ...envIn(folder),
      AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
      BACKUP_BUCKET: BUCKET,
      BACKUP_ENDPOINT: endpoint,
      DATABASE: join(folder, 'var/broadsheet.db'),
    };
  }

  write(): ChildProcess {
    const writer = this.#start(process.execPath, [WRITER, String(this.#runs++)]);
    let rest = '';
    writer.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const [slug = '', at] of lines.map((line) => line.split(' '))) this.receipts.push([slug, Number(at)]);
    });
    return writer;
  }

  ship(): ChildProcess {
    return this.#start('litestream', ['replicate', '-config', CONFIG]);
  }

  #start(command: string, args: string[]): ChildProcess {
    const child = spawn(command, args, { env: this.#env, stdio: ['ignore', 'pipe', 'ignore'] });
    const end = () => kill(child);
    endBeforeRemoval(this.folder, end);
    this.#t.after(end);
    return child;
  }

  /** Restores the database from the bucket alone. Returns the slugs in it, after an audit. */
  async restored(...more: string[]): Promise<Set<string>> {
    const folder = tempFolder(this.#t);
    const args = ['restore', '-config', CONFIG, '-o', join(folder, 'var/broadsheet.db'), ...more];
    const { status, stderr } = spawnSync('litestream', [...args, this.#env.DATABASE ?? ''], {
      env: this.#env,
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
    // The keys come from a backup.
    for (const key of ['door.key', 'log.key'])
      cpSync(join(this.folder, 'var', key), join(folder, 'var', key), { recursive: true });
    const app = openAppContext(readSettings(envIn(folder)));
    try {
      assert.deepEqual((await auditApp(app, { trees: false })).faults, []);
      const entries = [...app.store.entries()];
      return new Set(entries.flatMap((entry) => (entry.type === 'generation' ? [entry.piece.slug] : [])));
    } finally {
      app.close();
    }
  }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

test('whatever is killed, a restore has every receipt older than the bound', {
  skip: without('litestream', 'versitygw'),
}, async (t) => {
  const folder = tempFolder(t);
  const stand = new Stand(t, folder, await startVersitygw(t, tempFolder(t)));
  const app = openAppContext(readSettings(envIn(folder)));
  createPaper(app);
  app.close();
  let writer = stand.write();
  let shipper = stand.ship();
  let worst = 0;
  let middle: { at: number; had: number } | null = null;
  await until(() => (stand.receipts.length > 0 ? true : null));
  await sleep(BOUND);
  for (let n = 0; n < KILLS; n++) {
    await sleep(Math.random() * 3_000);
    const kind = (['machine', 'writer', 'shipper'] as const)[n % 3];
    const at = Date.now();
    if (kind !== 'shipper') await kill(writer);
    if (kind !== 'writer') await kill(shipper);
    if (kind !== 'machine') await sleep(Math.random() * 1_000);
    if (kind === 'shipper') shipper = stand.ship();
    // What is left running catches up.
    if (kind !== 'machine') await sleep(BOUND);
    const slugs = await stand.restored();
    const lost = stand.receipts.filter(([slug, time]) => time <= at && !slugs.has(slug));
    const oldest = lost[0]?.[1] ?? at;
    worst = Math.max(worst, at - oldest);
    assert.ok(
      at - oldest <= (kind === 'machine' ? BOUND : 0),
      `${kind}: receipts of ${at - oldest} ms before are lost`,
    );
    middle = { at: Date.now(), had: stand.receipts.length };
    if (kind !== 'shipper') writer = stand.write();
    if (kind === 'machine') shipper = stand.ship();
    await sleep(BOUND);
  }
  t.diagnostic(`${KILLS} kills, ${stand.receipts.length} receipts; the most that was lost is the last ${worst} ms`);

  // To a moment: what was there then, and nothing that came later.
  assert.ok(middle);
  const then = new Date(middle.at).toISOString();
  const slugs = await stand.restored('-timestamp', then);
  const later = stand.receipts.filter(([slug, at]) => at > (middle?.at ?? 0) && slugs.has(slug));
  assert.deepEqual(later, []);
  const missing = stand.receipts.filter(([slug, at]) => at < (middle?.at ?? 0) - BOUND && !slugs.has(slug));
  assert.deepEqual(missing, []);
});
