import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makePaperKey } from '../../src/desk/papers/paper-keys.ts';
import { freePort } from '../support/free-port.ts';
import { without } from '../support/log-peers.ts';
import { run, serveAtOnce, start, until } from '../support/program.ts';
import { BUCKET, CREDENTIALS, startVersitygw } from '../support/s3-server.ts';
import { send } from '../support/send.ts';
import { storyBody } from '../support/small-papers.ts';
import { type Bench, openPaper, PAPER, pressedPaper } from './paper.ts';
import { PERSONAS, SECTIONS } from './pieces.ts';
import { type Figure, median, note, seconds } from './table.ts';

const PIECES = Number(process.env.BENCH_TAKEOVER ?? 1_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
/** How long a writer files before the machine goes, in ms. */
const WRITING = 5_000;

/** What the loss of the machine that signs costs, with lease and backups in versitygw on this machine. */
export async function takeoverPart(bench: Bench): Promise<Figure[]> {
  const why = without('versitygw');
  if (why !== false) {
    note(`takeover: left out, it ${why}`);
    return [];
  }
  const { folder } = await pressedPaper(bench, PIECES);
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await takeOver(bench, folder, `${round}`));
  const of = (name: keyof Round) => median(rounds.map((round) => round[name]));
  const figure = (what: string, ours: string): Figure => ({
    what,
    ours,
    other: '',
    ratio: null,
    budget: '',
    holds: null,
  });
  return [
    figure(
      `${PIECES} pieces: from the end of a backup to the standby that serves it, pressed`,
      seconds(of('refreshed')),
    ),
    figure(`from kill -9 of the server to the first filing at the standby (LEASE_TIME=30s)`, seconds(of('taken'))),
    figure('filings with a 201 that the standby has not, with a backup after the last one', `${of('lost')}`),
    figure(
      `filings with a 201 that are not in the last backup, ${WRITING / 1_000} s after it, one writer`,
      `${of('behind')}`,
    ),
  ];
}

interface Round {
  refreshed: number;
  taken: number;
  lost: number;
  behind: number;
}

async function takeOver(bench: Bench, from: string, name: string): Promise<Round> {
  const endings: (() => unknown)[] = [];
  const t = { after: (end: () => unknown) => void endings.push(end) };
  const [first, second] = [join(bench.folder, `first-${name}`), join(bench.folder, `second-${name}`)];
  cpSync(from, first, { recursive: true });
  const app = openPaper(first);
  const { key } = makePaperKey(app, PAPER, { level: 'admin', name: 'bench' });
  app.close();
  const endpoint = await startVersitygw(t as never, join(bench.folder, `store-${name}`));
  const env = {
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    AWS_ENDPOINT_URL_S3: endpoint,
    LEASE_URL: `s3://${BUCKET}/lease`,
    MEDIA_URL: `s3://${BUCKET}/media`,
    ORIGIN: 'https://papers.example',
    LOG_LEVEL: 'warn',
  };
  const location = `s3://${BUCKET}/backups/`;
  try {
    const primary = await serveAtOnce(t, first, env);
    const port = String(await freePort());
    const standby = start(t, second, ['standby', '--from', location, '--every', '1s'], { ...env, PORT: port });
    const url = `http://127.0.0.1:${port}`;
    const headers = { authorization: `Bearer ${key}` };
    let filed = 0;
    const file = async (at: string) => {
      const more = { category: SECTIONS[0], byline: PERSONAS[0], air: true };
      const body = { ...storyBody(`bench-${name}-${filed}`), ...more };
      const path = `/${PAPER}/api/v1/stories`;
      const { status } = await send(at, { method: 'POST', path, headers, body }).catch(() => ({ status: 0 }));
      if (status === 201) filed++;
      return status === 201;
    };
    const shows = (n: number) =>
      until(() =>
        fetch(`${url}/${PAPER}/stories/bench-${name}-${n}/`).then(
          ({ status }) => (status === 200 ? true : null),
          () => null,
        ),
      );
    await until(async () => ((await file(primary.url)) ? true : null));
    await run(t, first, ['backup', location], env);
    await shows(0);
    for (const end = Date.now() + WRITING; Date.now() < end; ) await file(primary.url);
    const behind = filed - 1;
    // The backup holds the leaves of the newest head.
    await sleep(1_500);
    await run(t, first, ['backup', location], env);
    const backedUp = performance.now();
    await shows(filed - 1);
    const refreshed = performance.now() - backedUp;
    primary.child.kill('SIGKILL');
    const killed = performance.now();
    await primary.ended;
    const before = filed;
    await until(async () => ((await file(url)) ? true : null));
    const taken = performance.now() - killed;
    let lost = 0;
    for (let n = 0; n < before; n++) {
      const { status } = await fetch(`${url}/${PAPER}/stories/bench-${name}-${n}/`);
      if (status !== 200) lost++;
    }
    standby.child.kill('SIGTERM');
    await standby.ended;
    return { refreshed, taken, lost, behind };
  } finally {
    for (const end of endings.reverse()) await end();
  }
}
