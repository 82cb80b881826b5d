/** A file of a pressed tree: its path under the paper's folder, and the digest of its bytes. */
export interface PressedFile {
  path: string;
  digest: string;
}

/** What the manifest records about a printed output. */
export interface PrintedOutput {
  name: string;
  /** The dependencies that it read, one per line, as in the table; null if the paper no longer has the output. */
  dependencies: string | null;
  /** Files that are new to the manifest, or have another digest there. */
  changed: PressedFile[];
  /** Paths of files that the output no longer has. They are still on disk. */
  gone: string[];
  /** How many files changed on disk. */
  written: number;
}

export interface PressStart {
  /** The newest change number. The press handles every change up to this one and clears no later one. */
  until: number;
  /** Whether the last press was interrupted, so that the tree may differ from the manifest. */
  dirty: boolean;
}

/**
 * The press's records: stale dependencies, files on disk, and press leases. Marking a dependency as stale assigns it a
 * change number that is higher than any earlier one of any paper.
 */
export interface Manifest {
  /** Marks the outputs that read these dependencies as stale. Marking a dependency again assigns a new number. */
  markStale(paper: string, dependencies: Iterable<string>): void;
  /** Stale dependencies, oldest first, read in batches. The database may change between batches. */
  staleDependencies(paper: string): Iterable<string>;
  isStale(paper: string, dependency: string): boolean;
  /** Whether a dependency is stale and no press has started on that change. */
  isPending(paper: string, dependency: string): boolean;
  newestStale(paper: string): number;
  papersChangedAfter(number: number): string[];
  /** Starts a press of all present changes. Call it in a transaction, while holding the lease. */
  begin(paper: string): PressStart;
  /** Clears what became stale at or below a change number, and records that the tree and the manifest agree. */
  clearStale(paper: string, until: number): void;
  /** Records that all changes at or below a number are on disk, and how many files that press changed. */
  recordPressed(paper: string, until: number, files: number): void;
  isPressed(paper: string, number: number): boolean;
  /** The highest change number of any paper, cleared or not. It grows with every change that a page shows. */
  lastChangeOfAll(): number;
  /** The paper's highest change number, cleared or not; 0 when it never had one. */
  lastChange(paper: string): number;
  /** How many files changed in the press that handled a change; 0 when there was nothing to press. */
  filesChangedBy(paper: string, number: number): number;
  /** The note of the last press that did not wait for fsync; null when every file is synced. */
  unsynced(paper: string): string | null;
  setUnsynced(paper: string, note: string): void;
  /** Clears the note, unless a later press has replaced it. */
  setSynced(paper: string, note: string): void;
  /** The outputs that read a dependency when they were last printed. */
  outputsReading(paper: string, dependency: string): string[];
  outputs(paper: string): string[];
  files(paper: string, output: string): PressedFile[];
  /** Every file, read in batches. The database may change between batches. */
  allFiles(paper: string): Iterable<PressedFile>;
  /** Records the present state of outputs. Removes outputs that no longer exist. */
  record(paper: string, outputs: PrintedOutput[]): void;
  drop(paper: string, output: string): void;
  /** Forgets everything about the tree of a removed paper and clears its changes at or below a number. */
  forget(paper: string, until: number): void;
  /** The program version and settings of the last full press. When the stamp differs, everything is stale. */
  stamp(paper: string): string;
  setStamp(paper: string, stamp: string): void;
  /** Takes the lease of the paper's press for `span` ms. Returns false while another owner has it. */
  acquireLease(paper: string, owner: string, now: number, span: number): boolean;
  /** Extends a lease by `span` ms from `now`. Returns false when it was lost. */
  renewLease(paper: string, owner: string, now: number, span: number): boolean;
  leaseOwner(paper: string): string | null;
  releaseLease(paper: string, owner: string): void;
}

const TOPIC = /^(?:(?:sections|tags|masthead)\/[^/]+\/)?rss\.xml$|^(?:feed\.json|podcast\.xml)$/;

/** Whether a file of a paper's tree is a feed that names the WebSub hub. */
export const isTopic = (path: string): boolean => TOPIC.test(path);

export interface TopicQueue {
  /** Notes that a running press changed these feeds. Call it in the transaction that records the files. */
  note(paper: string, paths: string[]): void;
  /** Makes the noted feeds due at `now` (ms), once the press has ended and all its files are public. */
  release(paper: string, now: number): void;
}
