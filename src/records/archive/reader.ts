/** Bytes that are read by range: a file, or an object of object storage. */
export interface RangeSource {
  /** Names the bytes: another version has another one. */
  readonly id: string;
  /** In bytes. */
  readonly size: number;
  /** The bytes from `start` up to, not including, `end`. Throws `ObjectChanged` when the object is another one by now. */
  read(start: number, end: number): Promise<Uint8Array>;
}

/** An object was replaced or removed since the manifest named it: the manifest of now names others. */
export class ObjectChanged extends Error {}

/** What an object of observations holds: numbers and times (ms), inclusive. */
export interface ObjectRange {
  first_seq: number;
  last_seq: number;
  first_at: number;
  last_at: number;
}

/** An archive as reads see it. */
export interface ArchiveReader<ArchiveObject extends ObjectRange = ObjectRange> {
  /** The objects that may hold observations of a name, by the hash of its bucket and its path, its latest rows first. */
  objectsFor(hash: string, path: string): ArchiveObject[];
  source(object: ArchiveObject): RangeSource;
  /** The seeds of `count` rows of an object from a row on, 32 bytes each. */
  seeds(object: ArchiveObject, row: number, count: number): Promise<Uint8Array>;
}
