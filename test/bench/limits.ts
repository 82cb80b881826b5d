import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { airStory } from '../../src/desk/airing.ts';
import { append } from '../../src/desk/append.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { PaperBody } from '../../src/desk/papers/paper.ts';
import { makePaperKey } from '../../src/desk/papers/paper-keys.ts';
import { deskOf } from '../../src/server/context.ts';
import { DATABASE_FILE } from '../../src/shared/files/data-folder.ts';
import { PROJECT } from '../../src/shared/project.ts';
import { send } from '../support/send.ts';
import { cpuOf, run } from './child.ts';
import { databaseSize } from './database-size.ts';
import { type Bench, environmentOf, filedPaper, openPaper } from './paper.ts';
import { PERSONAS, piecesOf, SECTIONS } from './pieces.ts';
import { seedRecords } from './records-seed.ts';
import { type Figure, median, millis, note, seconds } from './table.ts';
import { pressed } from './waits.ts';

/** How much of each there is. The defaults take some minutes. */
const PAPERS = Number(process.env.BENCH_PAPERS ?? 1_000);
const PIECES = Number(process.env.BENCH_PIECES ?? 10_000);
const HOSTS = Number(process.env.BENCH_HOSTS ?? 100_000);
/** A server with so few papers, to compare. */
const FEW = 10;
const PIECES_EACH = 3;
const PUBLISHES = 5;
/** How long an idle server is watched, in ms. */
const IDLE = 5_000;
const PROGRAM = join(PROJECT, 'bin/broadsheet.mjs');

/** What a server with so many papers needs. */
interface Load {
  ready: number;
  /** Resident bytes when it is idle, and the share of a core that it then takes. */
  resident: number;
  idle: number;
  /** From a publish in one paper until its files are on disk; one read of its front; one scrape. In ms. */
  publish: number;
  read: number;
  scrape: number;
  press: { wall: number; cpu: number | null };
  /** Bytes of the database and of the trees. */
  database: number;
  tree: number;
}

/** The limits of one machine: what many papers, pieces and hostnames take. BENCH_PAPERS=0 leaves the papers out. */
export async function limitsPart(bench: Bench): Promise<Figure[]> {
  const papers = PAPERS === 0 ? [] : await papersRows(bench);
  const archive = filedPaper(bench, PIECES, 'limits-pieces');
  const records = join(bench.folder, 'limits-records');
  mkdirSync(records);
  seedRecords(records, { hosts: HOSTS, deltas: HOSTS * 10 });
  return [
    ...papers,
    row(`database, each piece of ${PIECES}`, kilo(databaseSize(join(archive, 'var', DATABASE_FILE)) / PIECES)),
    row(`a scrape of /metrics with ${PIECES} pieces`, millis(await scrapeOf(archive))),
    row(
      `database, each hostname of ${HOSTS} with an observation and ten changes`,
      kilo(databaseSize(join(records, 'var', DATABASE_FILE)) / HOSTS),
    ),
    row(`a scrape of /metrics with ${HOSTS} hostnames`, millis(await scrapeOf(records))),
  ];
}

function row(what: string, ours: string, other = '', ratio: number | null = null): Figure {
  return { what, ours, other, ratio, budget: '', holds: null };
}

async function papersRows(bench: Bench): Promise<Figure[]> {
  const few = await serverWith(bench, FEW);
  const many = await serverWith(bench, PAPERS);
  const beside = (what: string, member: Exclude<keyof Load, 'press'>, words: (value: number) => string) =>
    row(
      `${PAPERS} papers : ${FEW} papers: ${what}`,
      words(many[member]),
      words(few[member]),
      many[member] / few[member],
    );
  return [
    beside('ready after start', 'ready', seconds),
    beside('memory of an idle server', 'resident', mega),
    beside('processor of an idle server', 'idle', percent),
    beside('publish in one of them, to the last file', 'publish', millis),
    beside('a read of one', 'read', millis),
    beside('a scrape of /metrics', 'scrape', millis),
    beside('database', 'database', mega),
    beside('trees', 'tree', mega),
    row(
      `first press of ${PAPERS} papers of ${PIECES_EACH} pieces, without cards: wall, processor`,
      seconds(many.press.wall),
      seconds(many.press.cpu ?? Number.NaN),
    ),
  ];
}

/** Makes so many papers, presses them, serves them, and publishes into one of them. */
async function serverWith(bench: Bench, papers: number): Promise<Load> {
  const folder = filePapers(bench, papers);
  const press = await run(process.execPath, [PROGRAM, 'press', '--no-cards'], {
    cwd: folder,
    env: environmentOf(folder),
  });
  note(`pressed ${papers} papers in ${seconds(press.wall)}`);
  const app = openPaper(folder);
  const { key } = makePaperKey(app, 'paper-1', { level: 'admin', name: 'The benchmark' });
  app.close();
  const headers = { 'x-nrf-key': key };
  const server = await startServer(folder);
  try {
    // The server draws the cards that the press left out.
    while (!(await metricsOf(server)).includes('\nbroadsheet_press_stale_papers 0\n')) await sleep(1_100);
    await sleep(IDLE);
    const before = cpuOf(server.pid);
    await sleep(IDLE);
    const idle = (cpuOf(server.pid) - before) / IDLE;
    const publish: number[] = [];
    for (let n = 0; n < PUBLISHES; n++) {
      const began = performance.now();
      const body = { ...pieceOf(n), air: true };
      const filed = await send(server.desk, { method: 'POST', path: '/paper-1/api/v1/stories', headers, body });
      if (filed.status !== 201) throw new Error(`nothing was filed: ${filed.text}`);
      await pressed(server.desk, headers, filed);
      publish.push(performance.now() - began);
    }
    const measured = {
      ready: server.ready,
      resident: residentOf(server.pid),
      idle,
      publish: median(publish),
      read: await timed(() => fetch(`${server.desk}/paper-2/`).then((answer) => answer.text())),
      scrape: await timed(() => metricsOf(server), 1_100),
    };
    await server.stop();
    const sizes = { database: bytesIn(join(folder, 'var')), tree: bytesIn(join(folder, 'papers')) };
    note(`${papers} papers: ${JSON.stringify({ ...measured, ...sizes })}`);
    return { ...measured, ...sizes, press };
  } finally {
    await server.stop();
  }
}

const metricsOf = ({ metrics }: Server): Promise<string> => fetch(`${metrics}/metrics`).then((answer) => answer.text());

function filePapers(bench: Bench, papers: number): string {
  const folder = join(bench.folder, `limits-${papers}`);
  mkdirSync(folder);
  const app = openPaper(folder);
  const { store } = app;
  const desk = deskOf(app);
  app.signer.open();
  const began = performance.now();
  for (let number = 1; number <= papers; number++) {
    const paper = `paper-${number}`;
    store.database.transact(() => {
      const body = PaperBody.parse({ nameplate: `Paper ${number}`, description: 'One of many.', sections: SECTIONS });
      append(store.desk, { type: 'record', at: bench.began, paper, kind: 'paper', name: '', body });
      for (const slug of PERSONAS) {
        const persona = {
          slug,
          name: slug,
          title: 'Reporter',
          beat: 'Everything',
          bio: '',
          avatar: null,
          active: true,
        };
        append(store.desk, { type: 'record', at: bench.began, paper, kind: 'persona', name: slug, body: persona });
      }
      for (const { filing, at } of piecesOf(bench.texts, PIECES_EACH, bench.began)) {
        fileStory(desk, paper, filing, { by: 'cli' });
        airStory(desk, paper, filing.slug, { by: 'cli', at });
      }
    });
  }
  app.close();
  note(`filed ${papers} papers in ${seconds(performance.now() - began)}`);
  return folder;
}

interface Server {
  pid: number;
  desk: string;
  metrics: string;
  ready: number;
  stop(): Promise<void>;
}

/** Starts the program in a process of its own. */
async function startServer(folder: string): Promise<Server> {
  const began = performance.now();
  const child = spawn(process.execPath, [PROGRAM, 'serve'], {
    env: {
      ...process.env,
      ...environmentOf(folder),
      PORT: '0',
      RECORDS_PORT: '0',
      METRICS_PORT: '0',
      SCANNER: 'off',
      LOG_LEVEL: 'silent',
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += chunk;
  });
  for (;;) {
    const [, desk, metrics] = /^ready desk=(\S+) records=\S+ metrics=(\S+)$/m.exec(said) ?? [];
    if (desk !== undefined && metrics !== undefined) {
      const ended = once(child, 'close');
      const stop = async () => {
        child.kill('SIGTERM');
        await ended;
      };
      return { pid: child.pid ?? 0, desk, metrics, ready: performance.now() - began, stop };
    }
    if (child.exitCode !== null) throw new Error('the server ended before it was ready');
    await sleep(5);
  }
}

async function scrapeOf(folder: string): Promise<number> {
  const server = await startServer(folder);
  try {
    return await timed(() => metricsOf(server), 1_100);
  } finally {
    await server.stop();
  }
}

/** The median time of a few calls, in ms, with pauses between them. */
async function timed(work: () => Promise<unknown>, apart = 50): Promise<number> {
  const spans: number[] = [];
  for (let n = 0; n < PUBLISHES; n++) {
    await sleep(apart);
    const began = performance.now();
    await work();
    spans.push(performance.now() - began);
  }
  return median(spans);
}

function pieceOf(number: number): object {
  return {
    headline: `A late piece, number ${number}`,
    dek: '',
    category: SECTIONS[0],
    byline: PERSONAS[0],
    prose: 'The harbour froze.[^1] It thawed.[^2]',
    cited_facts: ['A', 'B'].map((source) => ({ statement: 'So.', source, instrument: 'A book' })),
  };
}

function bytesIn(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  // What the files take on the disk, in blocks of 512 bytes.
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).blocks * 512, 0);
}

function residentOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) * 1_024;
}

const mega = (bytes: number): string => `${Math.round(bytes / 1e6).toLocaleString('en')} MB`;
const kilo = (bytes: number): string => `${(bytes / 1e3).toFixed(1)} kB`;
const percent = (share: number): string => `${(share * 100).toFixed(1)} % of a core`;
