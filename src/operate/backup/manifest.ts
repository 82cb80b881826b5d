import * as z from 'zod';
import { Fault } from '../../shared/fault.ts';

/**
 * A backup is a tar of a DATA_DIR, compressed by zstd. Its first file says what it is, its last one holds the digests of
 * all others, as `sha256sum` writes them.
 */
export const MANIFEST_FILE = 'backup.json';
export const SUMS_FILE = 'SHA256SUMS';
/** The folder of files that settings name, each under the name of its setting. */
export const SETTINGS_FOLDER = 'settings';

/** The version of this format. */
const FORMAT = 1;

const Manifest = z.object({
  backup: z.literal(FORMAT),
  broadsheet: z.string(),
  made_at: z.iso.datetime(),
  /** The migrations that the database has. */
  migrations: z.array(z.string()),
  /** The names of the settings that were set. Their values are not in a backup. */
  settings: z.array(z.string()),
  /** The newest head of each log in the database. */
  heads: z.array(
    z.object({ log: z.enum(['desk', 'records']), origin: z.string(), size: z.number().int(), checkpoint: z.string() }),
  ),
  /** Media that the ledger names, without the missing ones: their number, and their bytes in total. */
  media: z.object({ files: z.number().int(), bytes: z.number().int() }),
  /** Digests of media that the ledger names and that were not on disk. */
  missing: z.array(z.string()),
});
export type Manifest = z.infer<typeof Manifest>;

export function manifestText(manifest: Omit<Manifest, 'backup'>): string {
  return `${JSON.stringify({ backup: FORMAT, ...manifest }, null, 2)}\n`;
}

/** Reads the first file of a backup. Throws `unavailable` when a newer program made it. */
export function parseManifest(bytes: Uint8Array, name: string): Manifest {
  const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
  const { backup, broadsheet } = z.object({ backup: z.number(), broadsheet: z.string() }).parse(value);
  if (backup > FORMAT) throw newer(name, broadsheet);
  return Manifest.parse(value);
}

/** Throws `unavailable` unless this program has every migration of the backup's database. */
export function requireMigrations({ migrations, broadsheet }: Manifest, known: readonly string[], name: string): void {
  if (!migrations.every((migration) => known.includes(migration))) throw newer(name, broadsheet);
}

function newer(name: string, version: string): Fault {
  const message = `${name} was made by a newer Broadsheet (${version}); restore it with that version or a newer one`;
  return new Fault('unavailable', message);
}
