import * as z from 'zod';
import { type ArchiveStatement, archiveIn, archiveText } from '../../proof/archive-note.ts';
import { contentHash, sha256 } from '../../proof/basis.ts';
import { verifyNode } from '../../proof/ed25519.ts';
import { NotIJson, parseIJson } from '../../proof/i-json.ts';
import { isSignedBy, keysOf, type VerifyingKey } from '../../proof/keyring.ts';
import { isObject } from '../../proof/members.ts';
import { isOneOf } from '../../proof/narrow.ts';
import { parseNote } from '../../proof/note.ts';
import { hashOrNull } from '../../proof/proof.ts';
import { type Signer, signNote } from '../../proof/signing.ts';
import { caught, Fault } from '../../shared/fault.ts';

/** The manifest of an archive (protocol 5.10): the objects that hold observations, and a signed note. */

/** The key of the manifest in the archive. */
export const MANIFEST = 'manifest.json';
/** The largest manifest, in bytes. */
export const MANIFEST_MAX = 200_000_000;

/** Tables that are copies for query engines; the service itself never reads them. */
export const COPIES = ['deltas', 'sightings', 'sightings_by_value'] as const;

/** Relative, so that checking somebody else's archive never reads outside its folder. */
const Key = z
  .string()
  .refine((key) => !/\p{Cc}/u.test(key) && key.split('/').every((part) => !['', '.', '..'].includes(part)));
const Stored = z.strictObject({ key: Key, etag: z.string(), sha256: z.string().length(64) });

/** An object of the archive. Times in ms; `sha256` in hex. */
const ArchiveObject = z.strictObject({
  ...Stored.shape,
  kind: z.enum(['observations', 'observations_open', 'tombstones', ...COPIES]),
  /** `YYYY-MM`, or `YYYY-MM-DD` for objects of one day. */
  period: z.string(),
  /**
   * A common prefix: of the `bucketHash` of the object's names, or of the hash of its values. Empty for an undivided
   * period.
   */
  bucket: z.string(),
  bytes: z.int(),
  rows: z.int(),
  first_seq: z.int(),
  last_seq: z.int(),
  first_at: z.int(),
  last_at: z.int(),
  first_path: z.string(),
  last_path: z.string(),
  /** The seeds of the rows, in the order of the rows: 32 bytes per row. */
  seeds: Stored.nullable(),
  /** The key at which engines expect the object, while it has not been copied there; else null. */
  publish: Key.nullable(),
  /** The number of the first manifest that listed the object. For a copy, that of the manifest whose rows it copies. */
  generation: z.int(),
});
export type ArchiveObject = z.infer<typeof ArchiveObject>;
export function isCopy({ kind }: Pick<ArchiveObject, 'kind'>): boolean {
  return isOneOf<string>(COPIES, kind);
}
export type StoredSeeds = z.infer<typeof Stored>;

const Body = z.strictObject({
  v: z.literal(1),
  objects: z.array(ArchiveObject),
  /**
   * The key document of the records and the corrections of their clock, so that the archive can be verified on its own.
   */
  keys: z.unknown(),
  clock: z.array(z.string()),
});
/** A manifest without its signed note. */
export type ManifestBody = z.infer<typeof Body>;

/** The text of a signed manifest. The file's first line is the note. */
export function manifestText(
  body: ManifestBody,
  said: Omit<ArchiveStatement, 'manifest' | 'kid'>,
  { signer, kid }: { signer: Signer; kid: string },
): string {
  const note = signNote(archiveText({ ...said, manifest: contentHash(body), kid }), signer);
  return `${JSON.stringify({ note, ...body })}\n`;
}

/** A parsed and verified manifest. */
export interface Manifest extends ManifestBody {
  note: string;
  said: ArchiveStatement;
  /** `sha256:<hex>` of the signed text; the next manifest refers to it. */
  hash: string;
}

/**
 * Parses a manifest. Throws `conflict` if none of the keys signed it, or if its content differs from what was signed.
 */
export function readManifest(text: string, keys: readonly VerifyingKey[], where: string): Manifest {
  const refuse = (why: string) =>
    new Fault('conflict', `${where}: ${why}; restore the previous version from the bucket, or correct ARCHIVE_URL`);
  const parsed = caught(NotIJson, () => parseIJson(text));
  if (parsed instanceof NotIJson) throw refuse(`it ${parsed.message}`);
  const { note, ...rest } = isObject(parsed) ? parsed : {};
  const said = typeof note === 'string' ? archiveIn(note) : null;
  const read = typeof note === 'string' ? parseNote(note) : null;
  if (typeof note !== 'string' || said === null || read === null) throw refuse('it has no note of a manifest');
  const key = keys.find((one) => one.kid === said.kid && isSignedBy(read, one, verifyNode));
  if (key === undefined) throw refuse(`none of this desk’s keys has signed it (its kid is ${said.kid})`);
  if (hashOrNull(rest) !== said.manifest) throw refuse('it is not what its note signs');
  const body = Body.safeParse(rest);
  if (!body.success) throw refuse(`it has not the form of a manifest (${body.error.issues[0]?.path.join('.')})`);
  return { ...body.data, note, said, hash: sha256(read.text) };
}

/** The keys that a manifest names itself, which anyone can make; none if it is not JSON. */
export function keysNamedIn(text: string): VerifyingKey[] {
  const parsed = caught(SyntaxError, () => JSON.parse(text) as unknown);
  return isObject(parsed) ? keysOf(parsed.keys) : [];
}

/** What remains of an erased observation: its number, and the SHA-256 of its note. */
export interface Tombstone {
  seq: number;
  hash: Uint8Array;
}

/** A line of an object of tombstones. Throws `conflict` for anything else. */
export function tombstoneIn(line: string): Tombstone {
  const [, seq, hash] = /^(\d{1,15}) ([0-9a-f]{64})$/.exec(line) ?? [];
  if (seq !== undefined && hash !== undefined) return { seq: Number(seq), hash: Buffer.from(hash, 'hex') };
  throw new Fault('conflict', `a line of tombstones is ${JSON.stringify(line.slice(0, 80))}; restore the object`);
}

/** The lines of such an object. */
export function tombstonesIn(bytes: Uint8Array): Tombstone[] {
  return Buffer.from(bytes).toString('latin1').split('\n').slice(0, -1).map(tombstoneIn);
}
