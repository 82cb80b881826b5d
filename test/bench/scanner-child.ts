// Scans hostnames at a server until none is due, round after round, and prints on standard error how fast.
import { readFileSync } from 'node:fs';
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
app.close();
process.stderr.write(`${JSON.stringify({ walls, cpus })}\n`);
