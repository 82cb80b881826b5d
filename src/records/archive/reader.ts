/** Bytes that can be read by range: a file, or an object in object storage. */
export interface RangeSource {
  /** Identifies the bytes: another version has another id. */
  readonly id: string;
  /** In bytes. */
  readonly size: number;
  /**
   * The bytes from `start` up to, not including, `end`. Throws `ObjectChanged` when the object was replaced or removed.
   */
  read(start: number, end: number): Promise<Uint8Array>;
}

/** An object was replaced or removed since its manifest was read. The current manifest lists the new objects. */
export class ObjectChanged extends Error {}

/** The numbers and times (ms) of an object's observations, inclusive. */
export interface ObjectRange {
  first_seq: number;
  last_seq: number;
  first_at: number;
  last_at: number;
}

/** The archive as observation reads use it. */
export interface ArchiveReader<ArchiveObject extends ObjectRange = ObjectRange> {
  /**
   * The objects that may contain observations of a name, by its bucket hash and path; those with the latest rows first.
   */
  objectsFor(hash: string, path: string): ArchiveObject[];
  source(object: ArchiveObject): RangeSource;
  /** The seeds of `count` rows, starting at `row`: 32 bytes per row. */
  seeds(object: ArchiveObject, row: number, count: number): Promise<Uint8Array>;
}
