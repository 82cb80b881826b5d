/** How an object at a target differs from the tree. */
export interface Difference {
  path: string;
  what: 'missing' | 'other bytes' | 'other headers' | 'stray';
}

/** A file that a target should have: its path in the tree, and its bytes. */
export interface SourceFile {
  path: string;
  /** Its approximate size in bytes. */
  size(): Promise<number>;
  /** Its bytes; null when the file has changed or is gone, so that the plan is out of date. */
  read(): Promise<Uint8Array | null>;
  /** Whether nothing at the target needs it: if the target has the file, it is compared; if not, it is not missing. */
  isSuperseded?: boolean;
}

/** The changes that a target needs. */
export interface Pending {
  /** Files by stage: pages of a stage link only to files of the same or earlier stages, so no link is ever broken. */
  stages: SourceFile[][];
  /** Paths to remove, to which nothing links any more. */
  removals: string[];
}

/** A pressed tree, and what the database knows about one target of it. */
export interface Source {
  /** The paper, or `log`. */
  tree: string;
  /** The key that the tree was first signed with. */
  key: string;
  folder: string;
  /** The last publication from this database; null when none is known. */
  publication(): string | null;
  files(): Iterable<SourceFile>;
  /** Whether this tree may once have had a path. Other paths belong to something else. */
  mayHave(path: string): boolean;
  /** Headers of a file, by their usual names. */
  headersOf(path: string): Record<string, string>;
  /** Forgets the state of the target, so that the next publication compares it. */
  doubt(): void;
  /** Queues changes from now on, so that none is missed while the target is compared. */
  watch(): void;
  /** Records a publication, and the result of a comparison; null when the target is the one that is remembered. */
  begin(publication: string, differences: readonly Difference[] | null): void;
  /** What the target needs now. Waits for a running press. Throws when the tree on disk is not complete. */
  pending(signal?: AbortSignal): Promise<Pending>;
  /** Records that files were sent and removed. */
  settle(sent: readonly SourceFile[], removed: readonly string[]): void;
  /** Records that the target has everything. */
  finish(): void;
}
