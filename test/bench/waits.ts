import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeKey } from '../../src/desk/papers/keys.ts';
import { newId } from '../../src/shared/new-id.ts';
import { send } from '../support/send.ts';
import { hostileProse } from './hostile.ts';
import { start } from './load.ts';
import { type Bench, environmentOf, filedPaper, openPaper, PAPER } from './paper.ts';
import { PERSONAS, SECTIONS } from './pieces.ts';
import { type Figure, millis, note, seconds } from './table.ts';

/** How long a single request may keep any other caller waiting, in ms. */
const WAIT_MAX = 300;
/** How many pieces the paper has before: what one filing costs does not depend on it. */
const SIZE = 20;
const API = `/${PAPER}/api/v1`;

/** One request beside which another caller asked without end. */
interface Measured {
  name: string;
  status: number;
  text: string;
  took: number;
  waited: number;
}

/** How long other callers wait while the worst filings that are known are read, go on air and leave it again. */
export async function waitsPart(bench: Bench): Promise<Figure[]> {
  const folder = filedPaper(bench, SIZE, 'waits');
  const headers = { 'x-nrf-key': adminKey(folder) };
  const desk = await start(['desk'], environmentOf(folder));
  const agent = new Agent({ keepAlive: true });
  const found: Record<'file' | 'air' | 'read' | 'withdraw', Measured[]> = { file: [], air: [], read: [], withdraw: [] };
  const measure = async (kind: keyof typeof found, name: string, method: string, path: string, body?: object) => {
    const work = send(desk.url, { method, path, headers, ...(body === undefined ? {} : { body }) });
    const began = performance.now();
    const [{ status, text }, waited] = await beside(work, () => cheap(desk.url, agent));
    const measured = { name, status, text, took: performance.now() - began, waited };
    found[kind].push(measured);
    note(`${kind} ${name}: ${status}, ${millis(measured.took)}, others waited ${millis(waited)}`);
    return measured;
  };
  try {
    // The first press is of the whole paper.
    await pressed(
      desk.url,
      headers,
      await send(desk.url, { method: 'POST', path: `${API}/stories`, headers, body: piece('First', 'x', true) }),
    );
    for (const { name, prose } of hostileProse()) {
      const filed = await measure('file', name, 'POST', `${API}/stories`, piece(name, prose, false));
      if (filed.status !== 201) continue;
      const { id } = (JSON.parse(filed.text) as { story: { id: string } }).story;
      const aired = await measure('air', name, 'POST', `${API}/stories/${id}/airing`, {});
      const [, later] = await beside(pressed(desk.url, headers, aired), () => cheap(desk.url, agent));
      aired.waited = Math.max(aired.waited, later);
      await measure('read', name, 'GET', `${API}/stories/${id}`);
      await measure('withdraw', name, 'DELETE', `${API}/stories/${id}/airing`, { reason: 'It was long.' });
    }
  } finally {
    agent.destroy();
    await desk.stop();
  }
  return Object.entries(found).map(([kind, all]) => {
    const worst = all.reduce((one, other) => (one.waited > other.waited ? one : other));
    return {
      what: `longest wait of another caller while the heaviest piece that the door takes is to ${kind}, of ${all.length}: the worst is ${worst.name}`,
      ours: millis(worst.waited),
      other: seconds(worst.took),
      ratio: worst.waited / worst.took,
      budget: `< ${WAIT_MAX} ms`,
      holds: worst.waited < WAIT_MAX,
    };
  });
}

function piece(headline: string, prose: string, air: boolean): object {
  return {
    headline,
    dek: '',
    category: SECTIONS[0],
    byline: PERSONAS[0],
    prose: `${prose.slice(0, 399_900).trim()}\n\n[^1] [^2]`,
    cited_facts: ['A', 'B'].map((source) => ({ statement: 'So.', source, instrument: 'A book' })),
    air,
  };
}

/** Waits until what a write changed is on the disk. */
export async function pressed(url: string, headers: Record<string, string>, { text }: { text: string }): Promise<void> {
  const { pressing } = JSON.parse(text) as { pressing?: string };
  if (pressing === undefined) return;
  for (;;) {
    const answer = await send(url, { path: new URL(pressing).pathname, headers });
    if ((JSON.parse(answer.text) as { pressed: boolean }).pressed) return;
    await sleep(200);
  }
}

/**
 * Asks again and again until work is done. Resolves with what that came to, and the longest that one asking took, in
 * ms.
 */
async function beside<T>(work: Promise<T>, ask: () => Promise<void>): Promise<[T, number]> {
  let isDone = false;
  const ended = work.finally(() => {
    isDone = true;
  });
  let longest = 0;
  while (!isDone) {
    const asked = performance.now();
    await ask();
    longest = Math.max(longest, performance.now() - asked);
    await sleep(2);
  }
  return [await ended, longest];
}

/** A request that costs next to nothing, on a connection that is kept. */
function cheap(url: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(new URL('/health', url), { agent }, (response) => response.resume().on('end', resolve));
    sent.on('error', reject).end();
  });
}

/** A key of the paper in a folder that may do everything. */
export function adminKey(folder: string): string {
  const app = openPaper(folder);
  const {
    store,
    clock: { now },
  } = app;
  const maker = {
    keys: store.desk.keys,
    archive: store.desk.archive(PAPER),
    now,
    newId,
    random: randomBytes,
    by: 'cli',
  };
  const { key } = makeKey(maker, PAPER, { level: 'admin', name: 'The benchmark' });
  app.close();
  return key;
}
