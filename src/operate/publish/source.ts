/** How an object at a target differs from the tree. */
export interface Difference {
  path: string;
  what: 'missing' | 'other bytes' | 'other headers' | 'stray';
}

/** A file that a target should have: its path in the tree, and its bytes. */
export interface SourceFile {
  path: string;
  /** About how many bytes it has. */
  size(): Promise<number>;
  /** The bytes that it should have; null when they are changing or gone, so that the plan is out of date. */
  read(): Promise<Uint8Array | null>;
  /** Whether nothing at the target needs it: it is compared where it is there, and not missed. */
  isSuperseded?: boolean;
}

/** What a target does not have yet. */
export interface Pending {
  /** Files by stage: no page that readers have reached by links leads them to a file of a later stage. */
  stages: SourceFile[][];
  /** Paths to remove, to which nothing links any more. */
  removals: string[];
}

/** A pressed tree, and what is known of it at one target. */
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
  /** The target may have what another publication replaced: the next publication compares it. */
  doubt(): void;
  /** Changes are queued from now on, so that none is missed while the target is compared. */
  watch(): void;
  /** Records a publication, and what a comparison has found; `null` where the target is the one remembered. */
  begin(publication: string, differences: readonly Difference[] | null): void;
  /** What the target lacks now. Waits for a running press. Throws when the tree on disk is not whole. */
  pending(signal?: AbortSignal): Promise<Pending>;
  /** Records what the target has now. */
  settle(sent: readonly SourceFile[], removed: readonly string[]): void;
  /** The target has everything. */
  finish(): void;
}
