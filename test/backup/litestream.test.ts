import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { auditApp } from '../../src/operate/audit/audit.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { endBeforeRemoval, envIn, tempFolder } from '../support/app-context.ts';
import { without } from '../support/log-peers.ts';
import { until } from '../support/program.ts';
import { BUCKET, CREDENTIALS, startVersitygw } from '../support/s3-server.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const CONFIG = fileURLToPath(new URL('../../deploy/litestream.yml', import.meta.url));
const RECIPE = fileURLToPath(new URL('../../deploy/litestream.sh', import.meta.url));
const WRITER = fileURLToPath(new URL('./writer-child.ts', import.meta.url));

/** Receipts older than this are in the bucket (docs/backup.md), in ms. */
const BOUND = 5_000;
/** How often something is killed: 200 times in `.ci/wide litestream`. */
const KILLS = Number(process.env.LITESTREAM_KILLS ?? 3);

/** A receipt that a writer gave out, and the time of it. */
type Receipt = [slug: string, at: number];

class Stand {
  readonly folder: string;
  /** The folder of the bucket. */
  readonly bucket: string;
  readonly receipts: Receipt[] = [];
  readonly #t: TestContext;
  readonly #env: NodeJS.ProcessEnv;
  #runs = 0;
  #starts = 0;

  constructor(t: TestContext, { folder, bucket, endpoint }: Record<'folder' | 'bucket' | 'endpoint', string>) {
    this.#t = t;
    this.folder = folder;
    this.bucket = bucket;
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
    this.#listen(writer);
    return writer;
  }

  #listen(writer: ChildProcess): void {
    let rest = '';
    writer.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      const receipts = lines.filter((line) => line.startsWith('story-')).map((line) => line.split(' '));
      for (const [slug = '', at] of receipts) this.receipts.push([slug, Number(at)]);
    });
  }

  /** As docs/backup.md says: each start ships to a path of its own, and begins with the whole database. */
  async ship(): Promise<ChildProcess> {
    rmSync(join(this.folder, 'var/.broadsheet.db-litestream'), { recursive: true, force: true });
    this.#env.BACKUP_PATH = `litestream/${this.#starts++}`;
    const shipper = this.#start('litestream', ['replicate', '-config', CONFIG]);
    await until(() => (this.isShipped() ? true : null));
    return shipper;
  }

  /** What docs/backup.md says to start, with a writer in the server's place. */
  recipe(): ChildProcess {
    const child = this.#start(RECIPE, [process.execPath, WRITER, 'recipe']);
    this.#listen(child);
    return child;
  }

  #start(command: string, args: string[]): ChildProcess {
    const child = spawn(command, args, { env: this.#env, stdio: ['ignore', 'pipe', 'ignore'] });
    const end = () => kill(child);
    endBeforeRemoval(this.folder, end);
    this.#t.after(end);
    return child;
  }

  /** The newest path in the bucket is the one to restore from. */
  takeNewestPath(): void {
    const [newest] = readdirSync(join(this.bucket, 'store', BUCKET, 'litestream'))
      .sort()
      .reverse();
    this.#env.BACKUP_PATH = `litestream/${newest}`;
  }

  /** Whether the bucket has a database. */
  isShipped(): boolean {
    const args = ['restore', '-config', CONFIG, '-dry-run', '-o', join(this.folder, 'none')];
    return spawnSync('litestream', [...args, this.#env.DATABASE ?? ''], { env: this.#env }).status === 0;
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
    const { faults, slugs } = await this.#audited(folder);
    if (faults.length > 0) assert.fail(await this.#evidence(folder, faults));
    return slugs;
  }

  /** The faults of the database that the writers wrote to, of a copy of it. Nothing may be writing. */
  async sourceFaults(): Promise<string[]> {
    const folder = tempFolder(this.#t);
    cpSync(join(this.folder, 'var'), join(folder, 'var'), {
      recursive: true,
      filter: (file) => !file.endsWith('-shm'),
    });
    return (await this.#audited(folder)).faults;
  }

  async #audited(folder: string): Promise<{ faults: string[]; slugs: Set<string> }> {
    // The keys come from a backup.
    for (const key of ['door.key', 'log.key'])
      cpSync(join(this.folder, 'var', key), join(folder, 'var', key), { recursive: true });
    const app = openAppContext(readSettings(envIn(folder)));
    try {
      const { faults } = await auditApp(app, { trees: false });
      const entries = faults.length > 0 ? [] : [...app.store.desk.entries()];
      return { faults, slugs: new Set(entries.flatMap((one) => (one.type === 'generation' ? [one.piece.slug] : []))) };
    } finally {
      app.close();
    }
  }

  /** Keeps both databases and the bucket, and says which of the databases is unsound. */
  async #evidence(restored: string, faults: string[]): Promise<string> {
    const kept = mkdtempSync(join(tmpdir(), 'litestream-evidence-'));
    for (const [name, from] of Object.entries({ source: this.folder, restored, bucket: this.bucket }))
      cpSync(from, join(kept, name), { recursive: true });
    const source = await this.sourceFaults();
    const some = (found: string[]) => (found.length === 0 ? 'sound' : `unsound: ${found.slice(0, 5).join('; ')}`);
    return `what was restored from ${this.#env.BACKUP_PATH} is ${some(faults)}; its source is ${some(source)}; all is kept in ${kept}`;
  }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** A bucket, and a database with a paper. */
async function founded(t: TestContext): Promise<Stand> {
  const folder = tempFolder(t);
  const bucket = tempFolder(t);
  const stand = new Stand(t, { folder, bucket, endpoint: await startVersitygw(t, bucket) });
  // In a process of its own: as long as one has the database open, nobody reads its log anew, and a commit whose writer
  // died before it told the others is not in the database, but in the log that Litestream reads.
  const { status } = spawnSync(process.execPath, [WRITER, 'paper'], { env: { ...process.env, ...envIn(folder) } });
  assert.equal(status, 0);
  return stand;
}

const WITHOUT = without('litestream', 'versitygw');

test('the recipe starts a server once the bucket has the database, and both end together', {
  skip: ONLY_WIDE || WITHOUT,
}, async (t) => {
  const stand = await founded(t);
  const recipe = stand.recipe();
  await until(() => (stand.receipts.length > 2 ? true : null));
  recipe.kill('SIGTERM');
  await once(recipe, 'exit');
  stand.takeNewestPath();
  const slugs = await stand.restored();
  assert.deepEqual(
    stand.receipts.filter(([slug]) => !slugs.has(slug)),
    [],
  );
});

test('after any kill, a restore has every receipt older than the bound', {
  skip: ONLY_WIDE || WITHOUT,
}, async (t) => {
  const stand = await founded(t);
  let shipper = await stand.ship();
  let writer = stand.write();
  const losses: number[] = [];
  let middle = 0;
  await until(async () => (stand.receipts.length > 0 ? true : null));
  for (let n = 0; n < KILLS; n++) {
    await sleep(1_000 + Math.random() * 3_000);
    const kind = (['machine', 'writer', 'shipper'] as const)[n % 3] ?? 'machine';
    const at = Date.now();
    if (kind !== 'shipper') await kill(writer);
    if (kind !== 'writer') await kill(shipper);
    if (kind !== 'machine') await sleep(Math.random() * 300);
    // A supervisor ends the one when the other has died.
    await Promise.all([kill(writer), kill(shipper)]);
    const slugs = await stand.restored();
    const lost = at - (stand.receipts.find(([slug, time]) => time <= at && !slugs.has(slug))?.[1] ?? at);
    losses.push(lost);
    assert.ok(lost <= BOUND, `${kind}: the receipts of the last ${lost} ms are lost`);
    shipper = await stand.ship();
    writer = stand.write();
    const restarted = Date.now();
    await until(() => ((stand.receipts.at(-1)?.[1] ?? 0) > restarted ? true : null));
    middle = Date.now();
  }
  await sleep(2_000);
  t.diagnostic(
    `${KILLS} kills, ${stand.receipts.length} receipts; lost if the disk was lost too, in ms: ${losses.sort((a, b) => a - b).join(' ')}`,
  );

  // To a moment: what was there then, and nothing that came later.
  const then = new Date(middle).toISOString();
  const slugs = await stand.restored('-timestamp', then);
  const later = stand.receipts.filter(([slug, at]) => at > middle && slugs.has(slug));
  assert.deepEqual(later, []);
  const missing = stand.receipts.filter(([slug, at]) => at < middle - BOUND && !slugs.has(slug));
  assert.deepEqual(missing, []);

  await Promise.all([kill(writer), kill(shipper)]);
  assert.deepEqual(await stand.sourceFaults(), []);
});
