// Does all that is due in an archive at each time (ms) that its parent sends, and answers with the most memory that it
// had, in MB, and its processor time, in ms.
import { readFileSync } from 'node:fs';
import { Archiver } from '../../src/records/jobs/archiver.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';

let now = 0;

/** Opened while the parent waits, which has the write lock otherwise. */
function open() {
  const app = openAppContext(readSettings(), () => now);
  if (app.archive === null) throw new Error('ARCHIVE_URL is not set');
  app.signer.open();
  process.on('disconnect', () => app.close());
  return new Archiver(app, app.archive, { assertHeld() {} });
}

let archiver: Archiver | undefined;
process.on('message', async (at: number) => {
  now = at;
  archiver ??= open();
  for (let isMore = true; isMore; ) isMore = await archiver.step();
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  const { user, system } = process.cpuUsage();
  process.send?.({ rss: Math.round((Number(kilobytes) * 1_024) / 1e6), cpu: (user + system) / 1_000 });
});
