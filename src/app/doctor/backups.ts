import type { Settings } from '../../env.ts';
import { DAY, isoTime } from '../../time.ts';
import { lastBackup } from '../backup-note.ts';
import type { Finding } from './finding.ts';
import { fault, holds, open } from './finding.ts';
import { ageText } from './queues.ts';

/** Backups that are older were meant to be regular, and have stopped, in ms. As in deploy/prometheus/alerts.yml. */
const OLD = 2 * DAY;

/** Says how old the last backup is that `backup` made of this DATA_DIR. */
export function checkBackups(settings: Settings, now: number): Omit<Finding, 'name'> {
  const last = lastBackup(settings);
  if (last === null) return open('none was made here by `backup`; docs/backup.md says how to keep them');
  const age = Math.max(0, now - last.at);
  const figures = { age_seconds: Math.round(age / 1_000), bytes: last.bytes };
  const found = `the last one is of ${isoTime(last.at)}, ${ageText(age)} old, at ${last.place}`;
  if (age <= OLD) return { ...holds(found), figures };
  return { ...fault(found, 'run `npm run -s broadsheet -- backup` regularly, as from cron'), figures };
}
