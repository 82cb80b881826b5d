import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { makeServiceKey } from '../../src/records/accounts/service-key.ts';
import { recordProbe } from '../../src/records/recording.ts';
import { newId } from '../../src/shared/new-id.ts';
import { probe } from '../support/probes.ts';
import type { Served } from './load.ts';
import { openRecords } from './records-seed.ts';
import { aSecond, type Figure, note, seconds } from './table.ts';

const LISTENERS = 2_000;
/** How often hostnames change, and how many at a time: all listeners are told each change. */
const BURSTS = 5;
const HOSTS = 100;

/** Changes told to many listeners at once: events delivered a second, and what a listener costs. */
export async function streamFigures(server: Served, folder: string): Promise<Figure[]> {
  const app = openRecords(folder);
  const maker = { keys: app.store.records.serviceKeys, now: app.clock.now, newId, random: randomBytes, by: 'cli' };
  const { key } = makeServiceKey(maker, { account: null, level: 'service', name: 'The benchmark' });
  const before = memoryOf(server.pid);
  const heard = { events: 0 };
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
  const listeners = await Promise.all(Array.from({ length: LISTENERS }, () => listen(server.url, key, agent, heard)));
  const after = memoryOf(server.pid);
  note(`${LISTENERS} listeners: ${mega(before)} before, ${mega(after)} with them`);

  const rates: number[] = [];
  let events = 0;
  const tell = changesOf(app);
  for (let burst = 0; burst <= BURSTS; burst++) {
    const told = LISTENERS * tell();
    const due = heard.events + told;
    const began = performance.now();
    while (heard.events < due) await new Promise((resolve) => setTimeout(resolve, 5));
    const took = performance.now() - began;
    note(`${told} events to ${LISTENERS} listeners in ${seconds(took)}, the wait for the next look included`);
    rates.push(told / (took / 1_000));
    events += told;
  }
  const later = memoryOf(server.pid);
  for (const end of listeners) end();
  agent.destroy();
  app.close();
  // The first burst warmed both sides.
  const middle = rates.slice(1).sort((a, b) => a - b)[Math.floor(BURSTS / 2)] ?? Number.NaN;
  return [
    {
      what: `GET /v1/stream, ${LISTENERS} listeners: events delivered (other: memory of a listener)`,
      ours: aSecond(middle),
      other: `${Math.round((after - before) / LISTENERS / 1_024)} kB`,
      ratio: null,
      budget: '',
      holds: null,
    },
    {
      what: `memory of a server with ${LISTENERS} listeners, after ${events.toLocaleString('en')} events : before the first`,
      ours: mega(later),
      other: mega(after),
      ratio: later / after,
      budget: '',
      holds: null,
    },
  ];
}

/** Opens a stream and counts what it is told; resolves once it is told something at all. */
function listen(url: string, key: string, agent: Agent, heard: { events: number }): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const request = get(`${url}/v1/stream`, { agent, headers: { 'x-service-key': key } }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`the stream answered ${response.statusCode}`));
      let end = '';
      response.on('data', (chunk: Buffer) => {
        // What marks an event may be cut by the end of a chunk.
        const text = end + chunk.toString('latin1');
        heard.events += text.split(MARK).length - 1;
        end = text.slice(1 - MARK.length);
        resolve(() => request.destroy());
      });
      response.on('error', () => {});
    });
    request.on('error', reject);
  });
}

/** What each event has once, and nothing else has. */
const MARK = '\ndata: {"seq":';

/** Enters a burst of changes at a time, each of a host of its own; how many. */
function changesOf({ store, settings, signer: right }: ReturnType<typeof openRecords>): () => number {
  const { signer, kid } = right.key('desk');
  let turn = 0;
  const at = Date.now();
  return () => {
    turn++;
    const before = store.records.newestDelta();
    store.database.transact(() => {
      for (let n = 0; n < HOSTS; n++) {
        const hostname = `host-${n}.looked-at-${n % 97}.example`;
        const lease = { id: newId(), owner: 'bench', until: at };
        store.records.leaseNames({ ...lease, names: [hostname] });
        const tools = { signer, kid, now: at + turn, every: settings.scanEvery, randomBytes };
        recordProbe(store.records, lease.id, probe(hostname, at + turn, { A: [`192.0.2.${turn}`] }), tools);
      }
    });
    return store.records.newestDelta() - before;
  };
}

function memoryOf(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1_024;
}

function mega(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}
