import canonicalize from 'canonicalize';
import * as z from 'zod';
import { type ArchiveStatement, archiveIn, archiveText } from '../../proof/archive-note.ts';
import { sha256 } from '../../proof/basis.ts';
import { verifyNode } from '../../proof/ed25519.ts';
import { isSignedBy, type VerifyingKey } from '../../proof/keyring.ts';
import { isOneOf } from '../../proof/narrow.ts';
import { parseNote } from '../../proof/note.ts';
import { type Signer, signNote } from '../../proof/signing.ts';
import { Fault } from '../../shared/fault.ts';

/** The manifest of an archive (protocol 5.10): the objects that hold observations, and a signed note. */

/** The key of the manifest in the archive. */
export const MANIFEST = 'manifest.json';
/** The largest manifest, in bytes. */
export const MANIFEST_MAX = 200_000_000;

/** What is copied for engines, and nothing else reads. */
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
  /** `YYYY-MM`, or `YYYY-MM-DD` for what is kept by day. */
  period: z.string(),
  /** What the `bucketHash` of the names in it begins with, or the hash of its values; empty where it is not divided. */
  bucket: z.string(),
  bytes: z.int(),
  rows: z.int(),
  first_seq: z.int(),
  last_seq: z.int(),
  first_at: z.int(),
  last_at: z.int(),
  first_path: z.string(),
  last_path: z.string(),
  /** The seeds of its rows: 32 bytes a row, in the order of the rows. */
  seeds: Stored.nullable(),
  /** The key at which engines look for it, while it is not there. */
  publish: Key.nullable(),
  /** The manifest that named it first; of a copy for engines, the one whose rows it has. */
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
  /** The key document of the records, and the corrections of their clock, so that the archive can be checked alone. */
  keys: z.unknown(),
  clock: z.array(z.string()),
});
/** A manifest without its note. */
export type ManifestBody = z.infer<typeof Body>;

const hashOf = (body: object): string => sha256(canonicalize(body) ?? '');

/** The bytes of a manifest, signed. The first line of the file is its note. */
export function manifestText(
  body: ManifestBody,
  said: Omit<ArchiveStatement, 'manifest' | 'kid'>,
  { signer, kid }: { signer: Signer; kid: string },
): string {
  const note = signNote(archiveText({ ...said, manifest: hashOf(body), kid }), signer);
  return `${JSON.stringify({ note, ...body })}\n`;
}

/** A manifest as it was read. */
export interface Manifest extends ManifestBody {
  note: string;
  said: ArchiveStatement;
  /** `sha256:<hex>` of the text that is signed: what the next manifest names. */
  hash: string;
}

/** Reads a manifest. Throws `conflict` for one that none of the keys has signed, or that is not what was signed. */
export function readManifest(text: string, keys: readonly VerifyingKey[], where: string): Manifest {
  const refuse = (why: string) =>
    new Fault('conflict', `${where}: ${why}; restore the version before from the bucket, or correct ARCHIVE_URL`);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw refuse('it is not JSON');
  }
  const { note, ...rest } = (typeof parsed === 'object' && parsed !== null ? parsed : {}) as Record<string, unknown>;
  const said = typeof note === 'string' ? archiveIn(note) : null;
  const read = typeof note === 'string' ? parseNote(note) : null;
  if (typeof note !== 'string' || said === null || read === null) throw refuse('it has no note of a manifest');
  const key = keys.find((one) => one.kid === said.kid && isSignedBy(read, one, verifyNode));
  if (key === undefined) throw refuse(`none of this desk’s keys has signed it (its kid is ${said.kid})`);
  if (hashOf(rest) !== said.manifest) throw refuse('it is not what its note signs');
  const body = Body.safeParse(rest);
  if (!body.success) throw refuse(`it has not the form of a manifest (${body.error.issues[0]?.path.join('.')})`);
  return { ...body.data, note, said, hash: sha256(read.text) };
}

/** What an erased observation leaves: its number, and the SHA-256 of its note. */
export interface Tombstone {
  seq: number;
  hash: Uint8Array;
}

/** The lines of an object of tombstones. */
export function tombstonesIn(bytes: Uint8Array): Tombstone[] {
  const lines = Buffer.from(bytes).toString('latin1').split('\n').slice(0, -1);
  return lines.map((line) => {
    const [, seq, hash] = /^(\d{1,15}) ([0-9a-f]{64})$/.exec(line) ?? [];
    if (seq === undefined || hash === undefined)
      throw new Fault('conflict', `a line of tombstones is ${JSON.stringify(line.slice(0, 80))}; restore the object`);
    return { seq: Number(seq), hash: Buffer.from(hash, 'hex') };
  });
}
