// Does all that is due in an archive at each time (ms) that its parent sends, and answers with the most memory that it
// had, in MB, and its processor time, in ms.
import { readFileSync } from 'node:fs';
import { Archiver } from '../../src/records/jobs/archiver.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';

let now = Date.now();
const app = openAppContext(readSettings(), () => now);
if (app.archive === null) throw new Error('ARCHIVE_URL is not set');
app.signer.open();
const archiver = new Archiver(app, app.archive, { assertHeld() {} });

process.on('message', async (at: number) => {
  now = at;
  for (let isMore = true; isMore; ) isMore = await archiver.step();
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  const { user, system } = process.cpuUsage();
  process.send?.({ rss: Math.round(Number(kilobytes) / 1_000), cpu: (user + system) / 1_000 });
});
process.on('disconnect', () => app.close());
