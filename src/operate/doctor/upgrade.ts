import { existsSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { paperRoot } from '../../desk/papers/paper.ts';
import { nextStamp } from '../../desk/press/build.ts';
import type { Settings } from '../../server/env.ts';
import { databaseFile } from '../../shared/files/data-folder.ts';
import { nearestFolder } from '../../shared/files/plain-file.ts';
import { plural } from '../../shared/plural.ts';
import { VERSION } from '../../shared/project.ts';
import { sizeText } from '../../shared/size.ts';
import { type Fill, type PressedPaper, readUpgradePlan } from '../../store/upgrade-plan.ts';

/** Estimated rows per second, on two cores. */
const RATES: Record<'migration' | 'press' | Fill['name'], number> = {
  migration: 100_000,
  'search index': 1_000,
  'word counts': 10_000,
  'log of the desk': 10_000,
  'log of the records': 10_000,
  'mailboxes of accounts': 50_000,
  'index of values': 10_000,
  press: 1_000,
};
/** Disk space of a pressed file's rows in the manifest and in the write-ahead log, in bytes. */
const FILE_BYTES = 2_200;

/** Why all pages of a paper are pressed again. */
type PressReason = 'code' | 'address' | 'folder' | 'hub' | 'missing';

/** What this version will change before it serves, and in the background. Sizes in bytes, times in seconds. */
export type Upgrade = ReturnType<typeof planUpgrade>;

const seconds = (rows: number, rate: number): number => Math.ceil(rows / rate);

/** Reads what this version will change. Changes nothing, and needs no built pages. */
export function planUpgrade(settings: Settings, nextCode: () => string = nextStamp) {
  const file = databaseFile(settings);
  const plan = readUpgradePlan(file);
  const { bavail, bsize } = statfsSync(nearestFolder(settings.dataDir));
  const free = bavail * bsize;
  const nothing = { version: VERSION, database: file, applied: 0, migrations: [], fills: [], presses: [] };
  if (plan === null) {
    return { ...nothing, size: null, disk: { folder: settings.dataDir, needed: 0, free }, ready: true };
  }
  const migrations = plan.pending.map((migration) => {
    const rows = migration.rows.reduce((sum, one) => sum + one.rows, 0);
    return { ...migration, seconds: seconds(rows, RATES.migration) };
  });
  const fills = plan.fills.map((fill) => ({
    ...fill,
    seconds: seconds(fill.rows, RATES[fill.name]),
    behind: fill.name === 'index of values',
  }));
  const origin = (settings.assumed.origin ? plan.origin : null) ?? settings.origin;
  const code = settings.services.desk && plan.papers.length > 0 ? nextCode() : '';
  const presses = settings.services.desk
    ? plan.papers
        .map((paper) => pressOf(paper, { ...settings, origin }, code))
        .filter(({ reasons, changes }) => reasons.length > 0 || changes > 0)
    : [];
  const grown = [...migrations, ...fills].reduce((sum, { bytes }) => sum + bytes, 0);
  const pressed = presses.reduce((sum, { files }) => sum + files, 0);
  // Everything is written twice: to the write-ahead log, then to the database.
  const needed = Math.ceil(2 * grown + FILE_BYTES * pressed);
  const disk = { folder: settings.dataDir, needed, free };
  const { bytes: size, applied } = plan;
  return { ...nothing, size, applied, migrations, fills, presses, disk, ready: needed <= free };
}

function pressOf(paper: PressedPaper, settings: Settings, code: string) {
  const reasons = pressReasons(paper, settings, code);
  const isFull = reasons.length > 0;
  // A tree that was never pressed has no files to count; each piece will have at least one.
  const files = isFull ? Math.max(paper.files, paper.pieces) : 0;
  return {
    paper: paper.slug,
    /** Why the whole paper is pressed; if empty, only what changed is pressed. */
    reasons,
    files,
    changes: paper.stale,
    seconds: seconds(files + paper.stale, RATES.press),
  };
}

/** Compares the parts of a stamp, which `pressPlan` puts together. */
function pressReasons(
  { slug, url, stamp }: PressedPaper,
  { origin, distDir, hubUrl }: Settings,
  nextCode: string,
): PressReason[] {
  const folder = join(distDir, slug);
  if (stamp === '' || !existsSync(join(folder, '_headers'))) return ['missing'];
  const [code, root, ...rest] = stamp.split(' ');
  const where = rest.join(' ');
  const isFolder = where === folder || where.startsWith(`${folder} `);
  const reasons: PressReason[] = [];
  if (code !== nextCode) reasons.push('code');
  if (root !== paperRoot({ slug, url }, origin)) reasons.push('address');
  if (!isFolder) reasons.push('folder');
  else if (where !== [folder, ...(hubUrl === null ? [] : [hubUrl])].join(' ')) reasons.push('hub');
  return reasons;
}

const WHY: Record<PressReason, string> = {
  code: 'the code of the pages is another',
  address: 'its address is another',
  folder: 'DIST_DIR is another',
  hub: 'HUB_URL is another',
  missing: 'there is no complete tree of it',
};

/** The plan in lines. */
export function upgradeLines(upgrade: Upgrade): string[] {
  const { version, database, size, applied, migrations, fills, presses, disk, ready } = upgrade;
  if (size === null)
    return [`Broadsheet ${version}: there is no database at ${database} yet; the first start creates it`];
  const before = [...migrations.map(migrationLine), ...fills.filter(({ behind }) => !behind).map(fillLine)];
  const behind = [...fills.filter((fill) => fill.behind).map(fillLine), ...presses.map(pressLine)];
  return [
    `Broadsheet ${version}, ${database} (${sizeText(size)}): ${plural(applied, 'migration')} of it done, ${migrations.length} to do`,
    ...(before.length === 0
      ? ['Before it serves: nothing']
      : ['Before it serves, each step whole or not at all:', ...before]),
    ...(behind.length === 0 ? ['While it serves: nothing'] : ['While it serves:', ...behind]),
    `Disk: needs about ${sizeText(disk.needed)} at ${disk.folder}, where ${sizeText(disk.free)} are free`,
    ...(ready ? [] : ['There is not enough room: free some space there first']),
    ...(migrations.length === 0
      ? []
      : ['An older version cannot open the database afterwards: back it up first (docs/upgrading.md)']),
    'Nothing was changed',
  ];
}

function migrationLine({ name, what, rows, seconds: time }: Upgrade['migrations'][number]): string {
  const read = rows.map((one) => `${plural(one.rows, 'row')} of ${one.table}`).join(', ');
  return `  ${name}: ${what}${read === '' ? '' : ` (${read})`}${about(time)}`;
}

function fillLine({ name, rows, seconds: time }: Upgrade['fills'][number]): string {
  const what =
    name === 'mailboxes of accounts' ? `${name}: ${rows}` : `${name}: ${plural(rows, 'entry', 'entries')} to make`;
  return `  ${what}${about(time)}`;
}

function pressLine({ paper, reasons, files, changes, seconds: time }: Upgrade['presses'][number]): string {
  if (reasons.length === 0) return `  ${paper}: ${plural(changes, 'change')} to press${about(time)}`;
  const why = reasons.map((reason) => WHY[reason]).join('; ');
  return `  ${paper}: all of its pages are pressed again, ${plural(files, 'file')} (${why})${about(time)}`;
}

function about(time: number): string {
  if (time < 2) return '';
  return time < 120 ? `, about ${time} s` : `, about ${plural(Math.ceil(time / 60), 'minute')}`;
}
