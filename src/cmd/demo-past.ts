import { once } from 'node:events';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DAY } from '../proof/time.ts';
import { DEMO_DAYS, recordDemoDays, recordDemoPast } from '../records/jobs/demo-history.ts';
import { openAppContext } from '../server/context.ts';
import type { Settings } from '../server/env.ts';
import { markAsDemonstration } from '../shared/demonstration.ts';
import { signHead } from '../signing/log/log-head.ts';
import { openLogKey } from '../signing/log/log-key.ts';

/**
 * Creates the demonstration's folder with its history, or records the days since it last ran, up to `now` in ms. The
 * folder appears only when it is complete; one that a killed process left is created again.
 */
export function makeDemoPast(settings: Settings, now: number): void {
  const { dataDir } = settings;
  if (existsSync(dataDir)) return recordDaysSince(settings, now);
  const making = `${dataDir}.making`;
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making, { recursive: true });
  const unfinished = { ...settings, dataDir: making, logDir: join(making, 'log') };
  markAsDemonstration(unfinished);
  atPast(unfinished, now - DEMO_DAYS * DAY, (app, clock, onDay) => recordDemoPast(app, clock, now, onDay));
  renameSync(making, dataDir);
}

function recordDaysSince(settings: Settings, now: number): void {
  markAsDemonstration(settings);
  atPast(settings, now, (app, clock, onDay) => {
    const { newestTime } = app.store.database;
    clock.at = Math.max(newestTime(), now - DEMO_DAYS * DAY);
    // After less than a day there is nothing to record.
    if (now - clock.at > DAY) recordDemoDays(app, clock, { until: now, firstStart: 0, onDay });
  });
}

type Work = (app: ReturnType<typeof openAppContext>, clock: { at: number }, onDay: () => void) => void;

/** Opens the records with a clock that `work` sets, and signs a head of their log whenever `onDay` is called. */
function atPast(settings: Settings, at: number, work: Work): void {
  const clock = { at };
  const app = openAppContext(settings, () => clock.at);
  try {
    app.signer.open();
    const key = openLogKey(app, 'records');
    work(app, clock, () => {
      while (signHead(app, 'records', key) === 'more');
    });
  } finally {
    app.close();
  }
}

/** Whether a server can listen at a port of this machine. */
export async function isFree(port: number, host: string): Promise<boolean> {
  const server = createServer();
  try {
    server.listen({ port, host, exclusive: true });
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
