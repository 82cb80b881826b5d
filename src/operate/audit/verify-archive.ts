import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { correctionsIn, type TimeCorrection, trueTime } from '../../proof/clock-note.ts';
import { verifyNode } from '../../proof/ed25519.ts';
import { checkClockNotes } from '../../proof/generation.ts';
import type { VerifyingKey } from '../../proof/keyring.ts';
import type { Policy } from '../../proof/log/policy.ts';
import { leafHash } from '../../proof/merkle.ts';
import { checkReceipt, RECORDS } from '../../proof/records/verify/document-faults.ts';
import type { CheckedReceipt } from '../../proof/records/verify/observation-rules.ts';
import type { Place, Row } from '../../records/archive/local-files.ts';
import {
  COPIES,
  isCopy,
  keysNamedIn,
  MANIFEST,
  MANIFEST_MAX,
  type Manifest,
  readManifest,
} from '../../records/archive/manifest.ts';
import { observationOf } from '../../records/archive/observation-row.ts';
import { caught, Fault, messageOf } from '../../shared/fault.ts';
import { plural } from '../../shared/plural.ts';
import { pushAll } from '../../shared/push-all.ts';
import type { ArchivePlace } from '../../shared/storage/archive-place.ts';
import type { Progress } from '../../shared/terminal/progress.ts';
import { type ArchiveVisitor, walkArchive } from './archive-walk.ts';
import { LeafSet } from './log/leaf-set.ts';
import type { LogSource } from './log/served-log.ts';
import { verifyLog } from './log/verify-log.ts';
import { observationFaults } from './records.ts';

/** How often to check an archive whose manifest is replaced meanwhile. */
const TRIES = 3;

/** The keys, log and policy that an archive is checked with. */
export interface ArchiveTrust {
  /** The only keys that may have signed; null to take those that the manifest names. */
  keys: VerifyingKey[] | null;
  /** The published log of the records. */
  log: LogSource | null;
  policy: Policy | null;
}

/** An archive that was checked without a database. */
export interface VerifiedArchive {
  archive: string;
  generation: number;
  through: number;
  signed_at: string | null;
  observations: number;
  tombstones: number;
  /** What is wrong, by object and row. */
  faults: string[];
  /** What could not be checked with the given `ArchiveTrust`. */
  unchecked: string[];
}

/**
 * Rebuilds every record, receipt and chain from the objects of an archive alone, and compares each leaf with a published
 * log. Needs 36 bytes of memory per leaf of the log, and space in the temporary folder for a sixteenth of the objects.
 * Throws `not_found` without a manifest, and `unavailable` when the place or the log does not answer.
 */
export async function verifyArchive(
  place: ArchivePlace,
  trust: ArchiveTrust,
  progress: Progress['step'] = () => {},
): Promise<VerifiedArchive> {
  for (let tried = 1; ; tried++) {
    const text = await manifestOf(place);
    const checked = await verifyManifest(place, text, trust, progress);
    // An archiver replaces objects, and the manifest that named them.
    const isFinal = checked.faults.length === 0 || (await manifestOf(place)) === text;
    if (isFinal) return checked;
    if (tried === TRIES) {
      checked.unchecked.push('whether an archiver was at work: the manifest was replaced meanwhile; check again');
      return checked;
    }
  }
}

async function manifestOf(place: ArchivePlace): Promise<string> {
  const found = await place.get(MANIFEST, MANIFEST_MAX);
  if (found === null) throw new Fault('not_found', `${place.name} has no ${MANIFEST}; give the address of an archive`);
  return Buffer.from(found.bytes).toString('utf8');
}

async function verifyManifest(
  place: ArchivePlace,
  text: string,
  trust: ArchiveTrust,
  progress: Progress['step'],
): Promise<VerifiedArchive> {
  const keys = trust.keys ?? keysNamedIn(text);
  const checked: VerifiedArchive = {
    ...{ archive: place.name, generation: 0, through: 0, signed_at: null, observations: 0, tombstones: 0 },
    ...{ faults: [], unchecked: [] },
  };
  const { faults, unchecked } = checked;
  const manifest = caught(Fault, () => readManifest(text, keys, MANIFEST));
  if (manifest instanceof Fault) {
    faults.push(manifest.message);
    unchecked.push('every object: only a valid manifest says which objects belong to the archive');
    return checked;
  }
  const { generation, through, signed_at } = manifest.said;
  Object.assign(checked, { generation, through, signed_at });
  if (trust.keys === null) unchecked.push('whose keys these are: the manifest itself names them; give --keys');
  unchecked.push(`what a database derived, and the observations after ${through}`);
  if (manifest.objects.some(isCopy))
    unchecked.push('what the copies for engines say: only that their bytes are the signed ones');
  const leaves = trust.log === null ? null : await leavesOf(trust.log, trust.policy, manifest, checked, progress);
  if (leaves === null) unchecked.push('whether the log has the observations; give --log');
  const audit = new ArchiveCheck(manifest, keys, leaves, checked);
  const work = mkdtempSync(join(tmpdir(), 'broadsheet-archive.'));
  try {
    checked.observations = await walkArchive({ place, manifest, work, faults, progress }, audit);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  await noteOthers(place, manifest, unchecked);
  return checked;
}

/** The leaves of a published log. Appends the log's own faults to `faults`. */
async function leavesOf(
  log: LogSource,
  policy: Policy | null,
  { note }: Manifest,
  { faults, unchecked }: VerifiedArchive,
  progress: Progress['step'],
): Promise<LeafSet> {
  const leaves = new LeafSet();
  const step = (done: number, total: number) => progress('read the log', done, total, '');
  const read = await verifyLog(log, policy, step, (entry) => leaves.add(leafHash(entry)));
  pushAll(
    faults,
    read.faults.map((fault) => `${read.log}: ${fault}`),
  );
  if (policy === null) unchecked.push('whether others see the same log; give --policy');
  leaves.sort();
  if (!leaves.has(leafHash(note))) unchecked.push(`whether ${read.origin} has this manifest: it is older`);
  return leaves;
}

/** Counts the objects that the manifest does not name: they prove nothing, but readers of the place may use them. */
async function noteOthers(place: ArchivePlace, { objects }: Manifest, unchecked: string[]): Promise<void> {
  const named = new Set(objects.flatMap(({ key, publish, seeds }) => [key, publish, seeds?.key]));
  let others = 0;
  for (const kind of ['observations', 'observations_open', 'seeds', 'tombstones', 'staging', ...COPIES]) {
    for await (const { key } of place.list(`${kind}/`)) if (!named.has(key)) others++;
  }
  if (others > 0) unchecked.push(`${plural(others, 'object')} that the manifest does not name`);
}

class ArchiveCheck implements ArchiveVisitor {
  readonly #keys: VerifyingKey[];
  readonly #corrections: TimeCorrection[];
  readonly #leaves: LeafSet | null;
  readonly #checked: VerifiedArchive;
  #before: CheckedReceipt | null = null;

  constructor({ clock }: Manifest, keys: VerifyingKey[], leaves: LeafSet | null, checked: VerifiedArchive) {
    const notes = checkClockNotes(clock, RECORDS, keys, verifyNode);
    pushAll(
      checked.faults,
      notes.faults.map((fault) => `${MANIFEST}: ${fault}`),
    );
    this.#keys = keys;
    this.#corrections = correctionsIn(notes.statements);
    this.#leaves = leaves;
    this.#checked = checked;
  }

  observation(row: Row, place: Place): void {
    const { hostname, seq, observed_at, signed_at } = row;
    const where = `${place.key}, row ${place.row}`;
    const { faults } = this.#checked;
    const checked = checkReceipt(row.receipt, this.#keys, verifyNode, this.#corrections);
    try {
      const observed = observationFaults(hostname, observationOf(row), checked, this.#before);
      pushAll(
        faults,
        observed.map((fault) => `${where}: ${hostname}: ${fault}`),
      );
    } catch (error) {
      faults.push(`${where}: ${hostname}: ${messageOf(error)}`);
    }
    // A correction of the clock may be newer than the archived row, which then still has the signed time.
    const signed = signed_at ?? observed_at;
    if (observed_at > signed || observed_at < trueTime(signed, seq, this.#corrections)) {
      faults.push(`${where}: ${hostname}: seq ${seq}: observed_at is not its time, nor that of a correction`);
    }
    this.#before = checked;
  }

  endHost(): void {
    this.#before = null;
  }

  leaf(where: string, seq: number, entry: string): void {
    if (where.startsWith('tombstones/')) this.#checked.tombstones++;
    if (this.#leaves?.has(leafHash(entry)) === false) {
      this.#checked.faults.push(`${where}: seq ${seq}: the log has no leaf of its receipt`);
    }
  }
}

/** An archive that was checked, in lines for people. */
export function verifiedArchiveLines(checked: VerifiedArchive): string[] {
  const { archive, generation, observations, tombstones, faults, unchecked } = checked;
  const erased = tombstones === 0 ? '' : `, ${tombstones} erased`;
  const what = `${plural(observations, 'observation')}${erased}`;
  return [
    ...faults,
    faults.length === 0
      ? `${archive}: manifest ${generation}, ${what}: every record, receipt and chain holds`
      : `${archive}: the archive does not hold (${plural(faults.length, 'fault')} in ${what})`,
    ...unchecked.map((line) => `not checked: ${line}`),
  ];
}
