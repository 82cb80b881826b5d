import { VERSION } from '../../project.ts';
import { lastBackup } from '../backup-note.ts';
import { eventLoop } from '../event-loop.ts';
import { inFlight } from '../measurements.ts';
import type { SampledRegistry } from './sampled-registry.ts';
import type { MetricSources, Readings } from './sources.ts';

/** What this process knows of itself, and of its last backup. */
export function ofProcess(registry: SampledRegistry, { app }: MetricSources): Readings {
  const info = registry.gauge('info', 'Always 1; the label is the version.', ['version']);
  const ready = registry.gauge('ready', '1 while `/ready` says so.');
  const clockWrong = registry.gauge('clock_wrong', '1 while nothing is signed because the clock is wrong.');
  const delay = registry.gauge(
    'event_loop_delay_max_seconds',
    'The longest delay of the event loop in the last minute.',
  );
  const flying = registry.gauge('http_requests_in_flight', 'Requests that are not answered yet.', ['service']);
  const lockHeld = registry.gauge(
    'write_lock_held_seconds',
    'How long another process has held the write lock of the database; 0 while it is free.',
  );
  const lockTimeouts = registry.total('write_lock_timeouts_total', 'Writes that timed out waiting for this lock.');
  const backupAt = registry.gauge('backup_timestamp_seconds', 'When the last backup was begun; 0 when none is known.');
  return {
    process() {
      info.set({ version: VERSION }, 1);
      ready.set(app.readiness.report().status === 'ready' ? 1 : 0);
      clockWrong.set(app.clock.fault() === null ? 0 : 1);
      delay.set(eventLoop.worst() / 1_000);
      for (const service of ['desk', 'records'] as const) flying.set({ service }, inFlight[service]);
    },
    write_lock() {
      lockHeld.set(app.store.lock.heldFor() / 1_000);
      lockTimeouts({}, app.store.lock.timeouts);
    },
    backup() {
      backupAt.set((lastBackup(app.settings)?.at ?? 0) / 1_000);
    },
  };
}
