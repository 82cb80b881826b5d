// Scans hostnames at a server until none is due, round after round, and prints on standard error how fast, and what a last
// round, under a profiler, spent its time on.
import { readFileSync } from 'node:fs';
import { type Profiler, Session } from 'node:inspector/promises';
import { parseHostname } from '../../src/records/hostname.ts';
import { scanOnce } from '../../src/records/jobs/scan.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';

const [file = '', rounds = '1'] = process.argv.slice(2);
const names = readFileSync(file, 'utf8').trim().split('\n');
let now = Date.now();
const app = openAppContext(readSettings(), () => now);
app.signer.open();
app.store.records.watch(names.map(parseHostname), now);

/** What code does, by its file: a call counts as the part of the innermost caller that has one. */
const PARTS: [file: RegExp, part: string][] = [
  [/shared\/sql\/checkpoints/, 'commits and their syncs'],
  [/src\/(?:store|shared\/sql)\//, 'rows read and written'],
  [/src\/(?:proof|signing)\//, 'hashes and signatures'],
  [/src\/records\/probe\/|node:dgram/, 'questions and answers'],
  [/src\/records\//, 'records, changes, schedule'],
];

/** The share of each part in a profile's time that was not idle. */
function sharesOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Record<string, number> {
  const parts = new Map<number, string>();
  // A node comes before its children.
  for (const { id, callFrame, children = [] } of nodes) {
    const own = PARTS.find(([file]) => file.test(callFrame.url))?.[1];
    if (own !== undefined && parts.get(id) !== PARTS[0]?.[1]) parts.set(id, own);
    if (callFrame.functionName === '(garbage collector)') parts.set(id, 'garbage collection');
    if (callFrame.functionName === '(idle)') parts.set(id, '');
    for (const child of children) parts.set(child, parts.get(id) ?? 'the rest');
  }
  const spent = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const part = parts.get(id) ?? 'the rest';
    if (part !== '') spent.set(part, (spent.get(part) ?? 0) + (timeDeltas[index] ?? 0));
  }
  const all = [...spent.values()].reduce((sum, one) => sum + one, 0);
  return Object.fromEntries([...spent].sort(([, a], [, b]) => b - a).map(([part, one]) => [part, one / all]));
}

const walls: number[] = [];
const cpus: number[] = [];
for (let round = 0; round < Number(rounds); round++) {
  const [began, before] = [performance.now(), process.cpuUsage()];
  const { observed } = await scanOnce(app, []);
  if (observed !== names.length) throw new Error(`${observed} of ${names.length} were observed`);
  const { user, system } = process.cpuUsage(before);
  walls.push(performance.now() - began);
  cpus.push((user + system) / 1_000);
  now += 2 * app.settings.scanEvery;
}
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.start');
await scanOnce(app, []);
const shares = sharesOf((await session.post('Profiler.stop')).profile);
app.close();
process.stderr.write(`${JSON.stringify({ walls, cpus, shares })}\n`);
