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
