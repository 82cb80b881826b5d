import { DAY, HOUR, MINUTE } from '../../proof/time.ts';
import { dumpIndex } from '../../records/dumps.ts';
import type { AppContext } from '../../server/context.ts';
import type { Settings } from '../../server/env.ts';
import { CLI } from '../../shared/command-line.ts';
import { plural } from '../../shared/plural.ts';
import { spanText } from '../../signing/clock/clock-guard.ts';
import { DELIVERY_QUEUE_NAMES, MAIL_QUEUE_NAMES, type QueueLength, together } from '../../store/vital-signs.ts';
import { type Found, fault, holds, open, runCheck } from './finding.ts';
import type { RunningServer } from './running.ts';

/** Days are archived an hour after their end, so an observation that is older than this is overdue, in ms. */
const ARCHIVE_LATE = 2 * DAY;
/** The newest day with a dump may have begun this long ago, in ms. */
const DUMPS_LATE = 3 * DAY;

/** Whether the archive responds, has the manifest that the database knows, and gets the closed days in time. */
export async function checkArchive(settings: Settings, app: AppContext): Promise<Found> {
  const { archive } = app.store.records;
  const own = archive.newest();
  if (app.archive === null) {
    if (own === null) return open('ARCHIVE_URL is not set: all observations stay in the database');
    return fault(
      `observations up to ${own.through} are in an archive, and ARCHIVE_URL is not set`,
      'set it to where they are',
    );
  }
  const etag = await app.archive.etag('manifest.json');
  // Throws when the place itself does not exist.
  if (etag === null) await app.archive.isFree('manifest.json');
  const since = archive.waitingSince();
  const age = since === null ? 0 : Math.max(0, app.clock.now() - since);
  const figures = {
    through: own?.through ?? 0,
    waiting_seconds: Math.round(age / 1_000),
    erasures: archive.erasures().length,
  };
  if (etag !== (own?.etag ?? null)) {
    const cure = `run \`${CLI} archive run\`, which follows it or says what is wrong`;
    return fault(`${app.archive.name} has another manifest than this database knows`, cure, figures);
  }
  const found = `${app.archive.name} has ${own === null ? 'no observations yet' : `observations 1 to ${own.through}`}`;
  if (age <= ARCHIVE_LATE || !settings.services.records) return holds(found, figures);
  const cure = `run \`${CLI} archive run\`, which says why, or read the server log: "job":"archive"`;
  return fault(`${found}, and the first after these is ${spanText(age)} old`, cure, figures);
}

/** Whether the place of the dumps responds and has all files that the database lists, and whether a dump is overdue. */
export async function checkDumps(settings: Settings, app: AppContext): Promise<Found> {
  const { dumps } = app.store.records;
  const figures = { days: dumps.shownCount(), due: dumps.dueCount() };
  if (app.dumps === null) {
    const days = plural(figures.days, 'day');
    if (figures.days === 0 && figures.due === 0) return open('DUMPS_URL is not set: no dumps are public');
    const cure = 'set it to where they are, or delete them there';
    return fault(
      `dumps of ${days} are public, and DUMPS_URL is not set: names that opt out stay in them`,
      cure,
      figures,
    );
  }
  const sizes = await app.dumps.list();
  const lost = dumpIndex(app).days.filter(({ files }) => files.some(({ name, bytes }) => sizes.get(name) !== bytes));
  const run = `run \`${CLI} dumps run\``;
  if (lost.length > 0) {
    const which = lost.map(({ day }) => day).slice(0, 3);
    return fault(`${app.dumps.name} lacks files of ${plural(lost.length, 'day')}: ${which.join(', ')}`, run, figures);
  }
  const found = `${app.dumps.name} has dumps of ${plural(figures.days, 'day')}`;
  const last = dumps.newestDay();
  const age = last === null ? 0 : app.clock.now() - Date.parse(last);
  const observed = dumps.newestAt() ?? 0;
  const isLate = last !== null && age > DUMPS_LATE && observed > Date.parse(last) + DUMPS_LATE;
  if (!isLate || !settings.services.records) return holds(found, figures);
  return fault(
    `${found}, the newest of ${last}`,
    `${run}, which says why, or read the server log: "job":"dumps"`,
    figures,
  );
}

/** How long something may be due while a server runs, in ms. As in deploy/prometheus/alerts.yml. */
const PRESS_LATE = 15 * MINUTE;
const SEND_LATE = 30 * MINUTE;
const SCAN_LATE = 6 * HOUR;
const PAYMENT_LATE = HOUR;

/** Reports queues whose oldest item has been due for too long. Without a running server, none is a fault. */
export async function checkQueues({ services, scanner }: Settings, app: AppContext | null, server: RunningServer) {
  if (app === null) return [];
  const signs = app.store.database.vitalSigns();
  const now = app.clock.now();
  /** Queues are named in this order: that of the desk, that of the records. */
  const served = <N>(names: readonly N[]) => names.filter((_, n) => (n === 0 ? services.desk : services.records));
  const mails = together(served(MAIL_QUEUE_NAMES).map((name) => signs.mails[name](now)));
  const deliveries = together(served(DELIVERY_QUEUE_NAMES).map((name) => signs.deliveries[name](now)));
  const queue = (name: string, what: (count: number) => string, length: QueueLength, late: number, cure: string) =>
    runCheck(name, () => {
      const { due, oldest_due_at: oldest } = length;
      const age = oldest === null ? 0 : Math.max(0, now - oldest);
      const figures = { due, oldest_due_seconds: Math.round(age / 1_000) };
      if (due === 0) return holds('nothing is due', figures);
      const found = `${what(due)} due, the first for ${spanText(age)}`;
      if (!server.isRunning) return open(`${found}; a server that runs does them`, figures);
      return { ...(age > late ? fault(found, cure) : holds(found)), figures };
    });
  return Promise.all([
    ...(services.desk ? [runCheck('press', () => press(app, server))] : []),
    queue('mails', are('mail'), mails, SEND_LATE, 'the server log says why, in lines with "job":"mails"'),
    queue('webhooks', are('delivery', 'deliveries'), deliveries, SEND_LATE, 'the log says why: "job":"webhooks"'),
    ...(services.records
      ? [
          queue(
            'scanner',
            are('hostname'),
            signs.scanQueue(now),
            SCAN_LATE,
            scanner ? 'add a scanner, or raise SCAN_EVERY' : 'start a scanner: SCANNER is off here',
          ),
          runCheck('open payments', () => {
            const { count, oldest_at } = signs.openPayments();
            const age = oldest_at === null ? 0 : Math.max(0, now - oldest_at);
            const figures = { open: count, oldest_seconds: Math.round(age / 1_000) };
            if (count === 0) return holds('the outcome of every payment is known', figures);
            const found = `the outcome of ${plural(count, 'payment')} is unknown, of the first for ${spanText(age)}`;
            if (age <= PAYMENT_LATE) return open(found, figures);
            const cure = 'check X402_RPC_URL and X402_FACILITATOR_URL; the payer’s next attempt settles it';
            return fault(found, cure, figures);
          }),
        ]
      : []),
  ]);
}

function press(app: AppContext, server: RunningServer): Found {
  const signs = app.store.database.vitalSigns();
  const [papers, changes] = [signs.stalePapers().length, signs.staleDependencies()];
  // Only the server's own metrics say for how long.
  const backlog = server.metric('broadsheet_press_backlog_seconds');
  const figures = { papers, changes, ...(backlog === null ? {} : { backlog_seconds: Math.round(backlog) }) };
  if (papers === 0) return holds('all pages are up to date', figures);
  const found = `${plural(papers, 'paper')} with ${plural(changes, 'change')} to press`;
  if (!server.isRunning) return open(`${found}; the next start or \`press\` does it`, figures);
  if ((backlog ?? 0) * 1_000 <= PRESS_LATE) return holds(found, figures);
  return fault(
    `${found}, for ${spanText((backlog ?? 0) * 1_000)}`,
    'the server log says why a press failed; then run press',
    figures,
  );
}

const are =
  (one: string, many?: string) =>
  (count: number): string =>
    `${plural(count, one, many)} ${count === 1 ? 'is' : 'are'}`;
