import { Command } from 'commander';
import { isoTime, MINUTE } from '../proof/time.ts';
import { dumpIndex } from '../records/dumps.ts';
import { parseHostname } from '../records/hostname.ts';
import { runArchiver } from '../records/jobs/archive-run.ts';
import { GRACE } from '../records/jobs/archiver.ts';
import { runDumps } from '../records/jobs/dump-run.ts';
import { eraseName, forgetEarlier } from '../records/jobs/erasure.ts';
import { optOutReason } from '../records/require-host.ts';
import type { AppContext } from '../server/context.ts';
import { readSettings } from '../server/env.ts';
import { CLI } from '../shared/command-line.ts';
import { Fault } from '../shared/fault.ts';
import { plural } from '../shared/plural.ts';
import { sizeText } from '../shared/size.ts';
import { shownAddress } from '../shared/storage/address.ts';
import { openArchivePlace, openWholeArchive } from '../shared/storage/archive-place.ts';
import { exitUnchecked, NOT_CHECKED, printError, printResult } from '../shared/terminal/output.ts';
import { withProgress } from '../shared/terminal/progress.ts';
import { givenAddress } from '../shared/terminal/project-folder.ts';
import { archiveHistory } from './archive/history.ts';
import { DataCommand } from './frame.ts';

/** How long an erasure waits for the archiver of a server, in ms. */
const PATIENCE = 10 * MINUTE;

/** The most rows that `archive sql` prints. */
const ROWS_MAX = 10_000;

export function command(): Command {
  return new Command('archive')
    .description('the archive of observations (ARCHIVE_URL)')
    .addCommand(archiveHistory())
    .addCommand(
      new DataCommand('run')
        .description('archive the days that are closed, as a server does every hour')
        .option('--json', 'print the outcome as JSON')
        .onData(async (app, { json }: { json?: boolean }) => {
          const isDone = await runArchiver(app);
          printResult(json, { is_done: isDone, ...statusOf(app) }, [
            isDone ? statusLine(app) : 'another process is archiving; nothing was done',
          ]);
        }),
    )
    .addCommand(
      new DataCommand('status')
        .description('show what the archive contains, according to its newest manifest')
        .option('--json', 'print it as JSON')
        .onData((app, { json }: { json?: boolean }) => printResult(json, statusOf(app), [statusLine(app)])),
    )
    .addCommand(
      new Command('verify')
        .description('rebuild every record, receipt and chain from the objects alone, without a database')
        .argument('[address]', 's3://BUCKET/PREFIX or a folder (default: ARCHIVE_URL)')
        .option('--keys <file or address>', 'trust only the keys of this records-keys.json')
        .option('--log <folder or address>', 'require each observation to be in this log of the records')
        .option('--policy <file or address>', 'require the signature of the log and the quorum of its witnesses')
        .option('--json', 'print the outcome as JSON')
        .exitOverride(exitUnchecked)
        .addHelpText('after', '\nExit code 0: everything holds; 1: something does not; 2: nothing could be checked.')
        .action(verify),
    )
    .addCommand(
      new Command('sql')
        .description(
          'run SQL over the archive with DuckDB (npm package @duckdb/node-api), and print one JSON object per row',
        )
        .argument('<query>', "such as \"SELECT * FROM answers WHERE path = 'com.example' AND signal = 'A'\"")
        .option('--json', 'print the rows as one JSON array')
        .addHelpText(
          'after',
          '\nThe tables are observations, answers (a row for each value), deltas, sightings and sightings_by_value. Only these can be read, and at most 10,000 rows are printed.',
        )
        .action(async (query: string, { json }: { json?: boolean }) => {
          const { queryArchive } = await import('../records/archive/engine.ts');
          const rows = await queryArchive(readSettings(), query, ROWS_MAX + 1);
          const shown = rows.slice(0, ROWS_MAX);
          printResult(
            json,
            shown,
            shown.map((row) => JSON.stringify(row)),
          );
          if (rows.length > ROWS_MAX)
            printError(`there are more than ${ROWS_MAX} rows; add a LIMIT, or aggregate them`);
        }),
    );
}

async function verify(
  address: string | undefined,
  { keys, log, policy, json }: { keys?: string; log?: string; policy?: string; json?: boolean },
): Promise<void> {
  process.exitCode = NOT_CHECKED;
  // Loaded here, because the server's archiver needs none of it.
  const [{ logSource, readPolicyAt }, { keysAt }, { verifyArchive, verifiedArchiveLines }] = await Promise.all([
    import('../operate/audit/log/served-log.ts'),
    import('../operate/audit/verify-sources.ts'),
    import('../operate/audit/verify-archive.ts'),
  ]);
  const settings = readSettings();
  const place =
    address === undefined
      ? openArchivePlace(settings)
      : openWholeArchive({ ...settings, archiveUrl: givenAddress(address) });
  if (place === null) throw new Fault('invalid_request', 'ARCHIVE_URL is not set; set it, or give an address');
  if (policy !== undefined && log === undefined)
    throw new Fault('invalid_request', '--policy needs --log; give the log to check');
  const trust = {
    keys: keys === undefined ? null : await keysAt(givenAddress(keys)),
    log: log === undefined ? null : logSource(givenAddress(log)),
    policy: policy === undefined ? null : await readPolicyAt(givenAddress(policy)),
  };
  const checked = await withProgress((progress) => verifyArchive(place, trust, progress));
  printResult(json, checked, verifiedArchiveLines(checked));
  process.exitCode = checked.faults.length > 0 ? 1 : 0;
}

function statusOf({ store, settings }: AppContext) {
  const { archive } = store.records;
  const newest = archive.newest();
  const objects = archive.objects();
  return {
    place: settings.archiveUrl === null ? null : shownAddress(settings.archiveUrl),
    generation: newest?.generation ?? 0,
    through: newest?.through ?? 0,
    signed_at: newest === null ? null : isoTime(newest.at),
    objects: objects.length,
    bytes: objects.reduce((sum, { bytes }) => sum + bytes, 0),
    observations: objects.reduce((sum, { kind, rows }) => sum + (kind.startsWith('observations') ? rows : 0), 0),
    copies: objects.filter(({ kind }) => /^(deltas|sightings)/.test(kind)).length,
    erased: archive.erasedCount(),
    erasures: archive.erasures().length,
  };
}

function statusLine(app: AppContext): string {
  const { place, generation, through, signed_at, objects, bytes, observations, copies, erased, erasures } =
    statusOf(app);
  if (generation === 0)
    return place === null ? 'there is no archive; ARCHIVE_URL is not set' : 'nothing is archived yet';
  const waiting = erasures === 0 ? '' : `; ${plural(erasures, 'name')} still to be erased in it`;
  const gone = erased === 0 ? '' : `, ${erased} erased in all`;
  return `${place ?? 'ARCHIVE_URL is not set'}: observations 1 to ${through} (${observations} in ${plural(objects, 'object')} with ${copies} copies for engines, ${sizeText(bytes)})${gone}, manifest ${generation} of ${signed_at}${waiting}`;
}

export function erase(): Command {
  return new DataCommand('erase')
    .description('opt a name and all names below it out, and erase what was observed of them, in the archive too')
    .argument('<name>', 'such as example.org')
    .requiredOption('--reason <text>', 'the reason, stored with the opt-out')
    .option('--json', 'print the outcome as JSON')
    .addHelpText(
      'after',
      '\nIt cannot be undone. The numbers and hashes of the receipts stay, so that the log and all other receipts hold.\nExit code 0: erased; 1: the archive could not be reached: a server will continue, or run it again.',
    )
    .onData(async (app, text: string, { reason, json }: { reason: string; json?: boolean }) => {
      const name = parseHostname(text);
      const names = eraseName(app, name, optOutReason(reason, '--reason'));
      const { archive } = app.store.records;
      if (archive.erasures().length > 0 && !(await runArchiver(app, PATIENCE))) {
        throw new Fault(
          'unavailable',
          `another process has been archiving for a long time; it will erase ${name.hostname} in its next step, see \`${CLI} archive status\``,
        );
      }
      // Without this, a server would do it within a minute.
      if (app.settings.dumps !== null) await runDumps(app, PATIENCE);
      const dumps_due = app.store.records.dumps.dueCount();
      const isForgotten = await forgetEarlier(app);
      printResult(
        json,
        {
          ...{ names, is_wal_empty: isForgotten, erased: archive.erasedCount() },
          ...{ erasures: archive.erasures().length, dumps_due },
        },
        [
          `${name.hostname} has opted out; ${plural(names.length, 'hostname')} erased${names.length === 0 ? '' : `: ${names.join(', ')}`}`,
          ...(dumps_due === 0
            ? []
            : [
                `${plural(dumps_due, 'day')} of public dumps may still have it: start a server with DUMPS_URL, or run ${CLI} dumps run with it`,
              ]),
          ...(isForgotten
            ? []
            : [
                'A process still reads an earlier state of the database: until it ends, and more is written, broadsheet.db-wal holds the erased data.',
              ]),
          'Not erased yet: earlier backups, until you delete them (a restored one erases it again once it catches up with the archive), copies that others made, and',
          `the earlier versions of objects, if the bucket keeps versions: until its lifecycle rule deletes them. Objects that the manifest no longer names are deleted within ${GRACE / (24 * 60 * MINUTE)} days, those of this erasure at once.`,
        ],
      );
    });
}

export function dumps(): Command {
  return new Command('dumps')
    .description('the public dumps of closed days (DUMPS_URL)')
    .addCommand(
      new DataCommand('run')
        .description('make the dumps that are due, as a server does')
        .option('--json', 'print the outcome as JSON')
        .onData(async (app, { json }: { json?: boolean }) => {
          const isDone = await runDumps(app);
          printResult(json, { is_done: isDone, ...dumpStatus(app) }, [
            isDone ? dumpLine(app) : 'another process is archiving or making dumps; nothing was done',
          ]);
        }),
    )
    .addCommand(
      new DataCommand('status')
        .description('show which days have dumps, and how many are due')
        .option('--json', 'print it as JSON')
        .onData((app, { json }: { json?: boolean }) => printResult(json, dumpStatus(app), [dumpLine(app)])),
    );
}

function dumpStatus(app: AppContext) {
  const { settings, store } = app;
  const { days, withheld } = dumpIndex(app);
  return {
    place: settings.dumps === null ? null : shownAddress(settings.dumps.url),
    days: days.length,
    first: days.at(-1)?.day ?? null,
    last: days[0]?.day ?? null,
    observations: days.reduce((sum, { rows }) => sum + rows, 0),
    bytes: days.reduce((sum, { files }) => sum + files.reduce((all, { bytes }) => all + bytes, 0), 0),
    due: store.records.dumps.dueCount(),
    withheld,
  };
}

function dumpLine(app: AppContext): string {
  const { place, days, first, last, observations, bytes, due, withheld } = dumpStatus(app);
  const waiting = due === 0 ? '' : `; ${plural(due, 'day')} due`;
  const hidden = withheld.length === 0 ? '' : `, of which ${withheld.join(', ')} are withheld until then`;
  if (days === 0)
    return `${place === null ? 'there are no dumps; DUMPS_URL is not set' : 'there is no dump yet'}${waiting}${hidden}`;
  const span = `${first} to ${last} (${plural(days, 'day')}, ${plural(observations, 'observation')}, ${sizeText(bytes)})`;
  return `${place ?? 'DUMPS_URL is not set'}: ${span}${waiting}${hidden}`;
}
