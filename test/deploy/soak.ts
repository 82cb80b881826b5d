// A desk and its records with everything that they have to do with, for as long as it is told to, while everything is
// killed in turn: node test/deploy/soak.ts --minutes 30 --seed anything

import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { makeServiceKey } from '../../src/records/accounts/service-key.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { newId } from '../../src/shared/new-id.ts';
import { Random } from '../press/model/random.ts';
import { envIn, treeOf } from '../support/app-context.ts';
import { freePort } from '../support/free-port.ts';
import { ask } from '../support/http.ts';
import { without } from '../support/log-peers.ts';
import { answerTo, lyingServer } from '../support/lying-server.ts';
import { type Outcome, type Running, start } from '../support/program.ts';
import { BUCKET, CREDENTIALS, refuse, S3Server, storeEnv } from '../support/s3-server.ts';
import { send } from '../support/send.ts';
import { enterPapers, storyBody } from '../support/small-papers.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(Date.now()) },
    /** Keeps the folder. */
    keep: { type: 'boolean', default: false },
  },
});
const PAPER = 'the-tide';
const HOSTS = Array.from({ length: 12 }, (_, at) => `host-${at}.example`);
/** A lease of a process that was killed may last so long, in ms. */
const CLAIM = 35_000;
/** What readers of a server that was killed may get besides answers. */
const GONE = /ECONNREFUSED|ECONNRESET|EPIPE|socket hang up/;

const began = Date.now();
const until = began + Number(values.minutes) * 60_000;
const isOver = () => Date.now() >= until;
const say = (text: string) => process.stdout.write(`${Math.round((Date.now() - began) / 1_000)} s: ${text}\n`);
const faults: string[] = [];
const fault = (text: string) => {
  faults.push(text);
  say(`FAULT ${text.slice(0, 2_000)}`);
};
const count: Record<string, number> = {};
const did = (what: string) => {
  count[what] = (count[what] ?? 0) + 1;
};
const random = (actor: string) => new Random(`${values.seed} ${actor}`);

const folder = mkdtempSync(join(tmpdir(), 'broadsheet-soak-'));
const endings: (() => unknown)[] = [];
const scope = { after: (work: () => unknown) => void endings.unshift(work) };

/** Object storage that can be killed and come back. */
interface Store {
  endpoint: string;
  /** Ends it in the midst of whatever it does. */
  kill(): void;
  revive(): Promise<void>;
  /** The objects under a prefix, by their path. */
  tree(prefix: string): Map<string, string>;
}

/** versitygw where it is, else our own. */
async function openStore(): Promise<Store> {
  if (without('versitygw') !== false) {
    const store = await S3Server.start(scope as never);
    let isDead = false;
    store.intercept = (_, response) => {
      if (isDead) response.destroy();
      else if (dice.chance(0.01)) refuse(response, 503, 'SlowDown', { 'retry-after': '1' });
      else return false;
      return true;
    };
    const dice = random('store');
    const set = (to: boolean) => {
      isDead = to;
    };
    return {
      endpoint: store.endpoint,
      kill: () => set(true),
      revive: async () => set(false),
      tree: (prefix) => new Map(store.paths(prefix).map((path) => [path, store.bytes(prefix + path) ?? ''])),
    };
  }
  const root = join(folder, 'store');
  mkdirSync(join(root, BUCKET), { recursive: true });
  const port = await freePort();
  const { accessKeyId, secretAccessKey } = CREDENTIALS;
  let child: ChildProcess | null = null;
  const revive = async () => {
    if (child !== null && child.exitCode === null && child.signalCode === null) return;
    const args = ['--port', `127.0.0.1:${port}`, '--access', accessKeyId, '--secret', secretAccessKey, 'posix', root];
    child = spawn('versitygw', args, { stdio: 'ignore' });
    // A request that comes too early is repeated.
    await sleep(500);
  };
  scope.after(() => child?.kill('SIGKILL'));
  await revive();
  return {
    endpoint: `http://127.0.0.1:${port}`,
    kill: () => void child?.kill('SIGKILL'),
    revive,
    tree: (prefix) => treeOf(join(root, BUCKET, prefix.slice(0, -1))),
  };
}

/** A resolver whose addresses change. */
const resolver = await lyingServer(scope, (heard) => {
  const { name = '', type } = heard.query.questions?.[0] ?? {};
  resolver.heard.length = 0;
  const data = `192.0.2.${1 + (Math.floor(Date.now() / 20_000) % 200)}`;
  return [answerTo(heard, { answers: type === 'A' ? [{ type: 'A', name, data, ttl: 60 }] : [] })];
});

const store = await openStore();
const ports = { PORT: String(await freePort()), RECORDS_PORT: String(await freePort()) };
const [desk, records] = [`http://127.0.0.1:${ports.PORT}`, `http://127.0.0.1:${ports.RECORDS_PORT}`];
const env: Record<string, string> = {
  ...ports,
  ...storeEnv(store.endpoint),
  ORIGIN: desk,
  DATA_ORIGIN: records,
  LOG_LEVEL: 'error',
  SCANNER: 'on',
  SCAN_EVERY: '1m',
  RESOLVERS: `${resolver.address}:${resolver.port}`,
};
const elsewhere = join(folder, 'www');
const admin = (await enterPapers(folder, [{ slug: PAPER }])).get(PAPER)?.admin ?? '';
const app = openAppContext(readSettings(envIn(folder, env)));
app.store.records.watch(
  HOSTS.map((host) => parseHostname(host)),
  Date.now(),
);
const maker = { keys: app.store.records.serviceKeys, now: app.clock.now, newId, random: randomBytes, by: 'cli' };
const { key } = makeServiceKey(maker, { account: null, level: 'service', name: 'a soak' });
app.close();

const commands = new Set<Running>();
let server: Running | null = null;

async function command(args: string[]): Promise<Outcome> {
  const running = start(scope, folder, args, env);
  commands.add(running);
  const outcome = await running.ended;
  commands.delete(running);
  did(`${args[0]}${outcome.signal === null ? '' : ' killed'}`);
  return outcome;
}

/** Starts the server whenever there is none. */
async function serve(): Promise<void> {
  while (!isOver()) {
    did('starts');
    server = start(scope, folder, ['serve'], env);
    const { code, signal, stderr } = await server.ended;
    if (signal !== 'SIGKILL' && !isOver()) fault(`the server ended with ${code} ${signal}: ${stderr}`);
    for (const line of stderr.split('\n').filter((line) => /"level":[56]0/.test(line))) {
      if (!/not published|nothing can be published/.test(line)) fault(`the server says ${line}`);
    }
  }
}

/** A request that a kill may cut: null then. */
async function tried<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (!GONE.test(String(error))) fault(`a request: ${error}`);
    return null;
  }
}

/** What an answer promised: pieces by id, with the last revision and whether they were withdrawn. */
const promised = new Map<string, { slug: string; revision: number; withdrawn: boolean }>();

async function write(n: number): Promise<void> {
  const choice = random(`writer ${n}`);
  const headers = { 'x-nrf-key': admin };
  for (let made = 0; !isOver(); made++) {
    await sleep(choice.int(100, 1_500));
    const slug = `piece-${n}-${made}`;
    const body = { ...storyBody(slug), air: true };
    const named = { ...headers, 'idempotency-key': `file ${slug}` };
    const path = `/${PAPER}/api/v1/stories`;
    let got = null;
    // Clients without an answer retry, and the piece is filed once.
    while (got === null && !isOver()) {
      got = await tried(() => send(desk, { method: 'POST', path, headers: named, body }));
      if (got === null || got.status === 409 || got.status >= 500) {
        if (got !== null && got.status >= 500 && got.status !== 503) fault(`filing: ${got.status} ${got.text}`);
        got = null;
        await sleep(500);
      }
    }
    if (got === null) return;
    if (got.status !== 201) {
      fault(`filing ${slug}: ${got.status} ${got.text}`);
      continue;
    }
    did('filings');
    const { id, revision } = JSON.parse(got.text).story;
    const piece = { slug, revision, withdrawn: false };
    promised.set(id, piece);
    if (choice.chance(0.3)) {
      const revised = { ...storyBody(slug), dek: 'Another dek.', revision };
      const answer = await tried(() => send(desk, { method: 'PUT', path: `${path}/${id}`, headers, body: revised }));
      if (answer?.status === 200) piece.revision = JSON.parse(answer.text).story.revision;
      did('revisions');
    }
    if (choice.chance(0.15)) {
      const reason = { reason: 'It was wrong.' };
      const at = `${path}/${id}/airing`;
      const answer = await tried(() => send(desk, { method: 'DELETE', path: at, headers, body: reason }));
      if (answer?.status === 200) piece.withdrawn = true;
      did('withdrawals');
    }
  }
}

async function readPages(n: number): Promise<void> {
  const choice = random(`reader ${n}`);
  while (!isOver()) {
    await sleep(choice.int(20, 300));
    const ids = [...promised.keys()];
    const piece = ids.length === 0 ? undefined : promised.get(choice.pick(ids));
    const [url, path, headers] = choice.pick<[string, string, Record<string, string>]>([
      [desk, `/${PAPER}/`, {}],
      [desk, `/${PAPER}/rss.xml`, {}],
      [desk, `/${PAPER}/api/v1/stories`, {}],
      [desk, `/${PAPER}/stories/${piece?.slug ?? 'high-water'}/`, {}],
      [desk, '/log/checkpoint', {}],
      [records, '/', {}],
      [records, '/health', {}],
      [records, `/v1/domains/${choice.pick(HOSTS)}`, { 'x-service-key': key }],
      [records, '/v1/changes?limit=50', { 'x-service-key': key }],
    ]);
    const got = await tried(() => ask(url, path, headers));
    if (got === null) continue;
    did('reads');
    if (got.status >= 500 && got.status !== 503) fault(`GET ${path}: ${got.status} ${got.text}`);
  }
}

/** Commands beside the server. */
async function work(): Promise<void> {
  const choice = random('commands');
  while (!isOver()) {
    await sleep(choice.int(500, 6_000));
    const args = choice.pick([['press'], ['press', '--full'], ['publish'], ['publish', '--to', elsewhere], ['audit']]);
    if (isOver()) return;
    const { code, stderr } = await command(args);
    // An audit beside a server that files sees what is not pressed yet; a store that is down fails a publication.
    const mayFail = code === null || ['audit', 'publish'].includes(args[0] ?? '');
    if (!mayFail && code !== 0) fault(`${args.join(' ')} ended with ${code}: ${stderr}`);
  }
}

async function kill(): Promise<void> {
  const choice = random('killer');
  while (!isOver()) {
    await sleep(choice.int(2_000, 12_000));
    if (isOver()) return;
    const victim = choice.pick(['server', 'server', 'command', 'store']);
    did(`kills of a ${victim}`);
    if (victim === 'store') {
      store.kill();
      await sleep(choice.int(200, 4_000));
      await store.revive();
    } else {
      const running = victim === 'server' ? server : ([...commands][0] ?? null);
      running?.child.kill('SIGKILL');
    }
  }
}

async function mustEnd(args: string[], what: RegExp = /^/): Promise<Outcome> {
  const outcome = await command(args);
  const text = outcome.stdout + outcome.stderr;
  if (outcome.code !== 0 || !what.test(outcome.stdout)) fault(`${args.join(' ')} ended with ${outcome.code}: ${text}`);
  return outcome;
}

function same(what: string, ours: Map<string, string>, theirs: Map<string, string>): void {
  theirs.delete('.broadsheet.json');
  const differ = [...ours].filter(([path, text]) => theirs.get(path) !== text).map(([path]) => path);
  const strays = [...theirs.keys()].filter((path) => !ours.has(path));
  if (differ.length + strays.length > 0)
    fault(`${what}: other bytes: ${differ.slice(0, 9).join(' ')}; too many: ${strays.slice(0, 9).join(' ')}`);
  say(`${what}: ${ours.size} files compared`);
}

/** That what its head needs is there, the comparison has said. Partial tiles of heads between are on disk alone. */
function sameLog(what: string, theirs: Map<string, string>): void {
  same(what, new Map([...treeOf(join(folder, 'log/desk'))].filter(([path]) => theirs.has(path))), theirs);
}

/** Nobody acts any more: everything must agree. */
async function settle(): Promise<void> {
  say('settling');
  await store.revive();
  await sleep(CLAIM);
  await mustEnd(['press']);
  await mustEnd(['press'], /^nothing left to press/);
  const papers = () => treeOf(join(folder, 'papers', PAPER));
  const before = papers();
  const full = JSON.parse((await mustEnd(['press', '--full', '--json'])).stdout)[PAPER];
  if (full?.written !== 0 || full?.removed !== 0) fault(`a full press rewrote something: ${JSON.stringify(full)}`);
  same('a full press', before, papers());
  await mustEnd(['audit', '--deep'], /, 0 faults$/m);
  for (const to of [[], ['--to', elsewhere]]) {
    await mustEnd(['publish', ...to]);
    await mustEnd(['publish', '--check', ...to], /0 differences/);
  }
  for (const log of ['desk', 'records']) await mustEnd(['log', 'verify', join(folder, 'log', log)]);
  same('the bucket', papers(), store.tree(`site/${PAPER}/`));
  sameLog('the log in the bucket', store.tree('site/log/'));
  same('the folder', papers(), treeOf(join(elsewhere, PAPER)));
  sameLog('the log in the folder', treeOf(join(elsewhere, 'log')));
  const settled = openAppContext(readSettings(envIn(folder, env)));
  const archive = settled.store.desk.archive(PAPER);
  for (const { slug, revision, withdrawn } of promised.values()) {
    const story = archive.storyBySlug(slug);
    const page = before.get(`stories/${slug}/index.html`);
    if (story === null || story.revision < revision) fault(`${slug} ${revision} was answered, and is not there`);
    if (page === undefined) fault(`${slug} has no page`);
    else if (withdrawn !== /It was wrong\./.test(page) && withdrawn) fault(`${slug} was withdrawn, and has its page`);
  }
  say(`${promised.size} pieces are as they were answered; ${settled.store.records.nextSeq() - 1} observations`);
  settled.close();
}

/** The largest file of the database's log, which a checkpoint that never comes would let grow. */
const walSize = () =>
  Math.max(
    0,
    ...readdirSync(join(folder, 'var'))
      .filter((n) => n.endsWith('-wal'))
      .map((n) => statSync(join(folder, 'var', n)).size),
  );

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, async () => {
    for (const end of endings) await end();
    process.exit(1);
  });

say(`seed ${values.seed}, in ${folder}`);
try {
  const clock = setInterval(() => say(JSON.stringify({ ...count, wal: walSize() })), 60_000);
  await Promise.all([serve(), write(1), write(2), readPages(1), readPages(2), work(), kill(), sleepThenStop()]);
  clearInterval(clock);
  await settle();
} catch (error) {
  fault(`the soak itself: ${error instanceof Error ? error.stack : error}`);
} finally {
  for (const end of endings) await end();
  if (faults.length === 0 && !values.keep) rmSync(folder, { recursive: true, force: true });
}
say(`${JSON.stringify(count)}: ${faults.length} faults`);
process.exitCode = faults.length > 0 ? 1 : 0;

/** Ends the server as an operator does. */
async function sleepThenStop(): Promise<void> {
  await sleep(until - Date.now());
  server?.child.kill('SIGTERM');
}
