/** A file of a pressed tree: its path under the paper's folder and the digest of its bytes. */
export interface PressedFile {
  path: string;
  digest: string;
}

/** What a press finds when it begins. */
export interface PressStart {
  /** The number of the last mark there is: the press takes on all marks up to it, and clears no later one. */
  until: number;
  /** Whether the last press was broken off, so that the tree may differ from the manifest. */
  dirty: boolean;
}

/** The press's own records: what is marked to be pressed, what is on disk, who presses. */
export interface Manifest {
  /** Marks what reads these tags. Each mark gets a number, higher than every one before; marked again, a tag gets a new one. */
  markStale(paper: string, tags: Iterable<string>): void;
  /** The marked tags up to and with a number, oldest first. */
  staleTags(paper: string, until?: number): string[];
  isStale(paper: string, tag: string): boolean;
  /** Whether a tag is marked and no press has taken the mark on yet. */
  isPending(paper: string, tag: string): boolean;
  /** The number of the newest mark, or 0. */
  newestMark(paper: string): number;
  /** Papers with marks. */
  stalePapers(): string[];
  /** Takes on every mark there is. To be called within a transaction, by whoever has the claim. */
  begin(paper: string): PressStart;
  /** Clears the marks up to and with a number. The tree is the manifest's again. */
  clearStale(paper: string, until: number): void;
  /** Notes that all that was marked up to a number is on disk, and how many files that press changed. */
  recordPressed(paper: string, until: number, files: number): void;
  /** Whether all that was marked up to a number is on disk. */
  isPressed(paper: string, number: number): boolean;
  /** The highest number that any mark of any paper ever had: it grows with every change that a page shows. */
  highestMarkOfAll(): number;
  /** The highest number that any mark of the paper ever had, or 0. */
  highestMark(paper: string): number;
  /** How many files the press changed that put a number's marks on disk; 0 when there was nothing to press. */
  filesChangedBy(paper: string, number: number): number;
  /** The note of the last press that did not wait for the disk; null when the disk has every file. */
  unsynced(paper: string): string | null;
  setUnsynced(paper: string, note: string): void;
  /** Takes such a note back, unless a later press has left another one. */
  setSynced(paper: string, note: string): void;
  /** The sheets that read a tag when they were last printed. */
  outputsReading(paper: string, tag: string): string[];
  outputs(paper: string): string[];
  files(paper: string, sheet: string): PressedFile[];
  /** Every file, read in batches: other work may come between two of them. */
  allFiles(paper: string): Iterable<PressedFile>;
  /** Notes that a sheet was printed from these tags, which of its files are new or others, and which are gone. */
  record(paper: string, sheet: string, tags: string[], pressed: PressedFile[], gone: string[]): void;
  drop(paper: string, sheet: string): void;
  /** What the tree was last pressed with in full; another stamp makes everything due. */
  stamp(paper: string): string;
  setStamp(paper: string, stamp: string): void;
  /** Takes the paper's press for `span` ms; false while somebody else has it. */
  claim(paper: string, who: string, now: number, span: number): boolean;
  /** Keeps a claim for another `span` ms; false when it was lost. */
  renew(paper: string, who: string, now: number, span: number): boolean;
  owner(paper: string): string | null;
  release(paper: string, who: string): void;
}
