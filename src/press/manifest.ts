/** A file of a pressed tree: its path under the paper's folder and the digest of its bytes. */
export interface PressedFile {
  path: string;
  digest: string;
}

/** The press's own records: what it owes, what it has put on disk, who presses. */
export interface Manifest {
  owe(paper: string, tags: Iterable<string>): void;
  /** The tags that are owed, oldest first. */
  due(paper: string): string[];
  owes(paper: string, tag: string): boolean;
  /** The id of what was owed last, or 0. */
  lastDue(paper: string): number;
  /** Papers to which something is owed. */
  owing(): string[];
  /** Strikes out what was owed, up to and with this id. */
  paid(paper: string, until: number): void;
  /** The id up to which all that was owed is on disk. */
  paidUntil(paper: string): number;
  /** The sheets that read a tag when they were last printed. */
  readers(paper: string, tag: string): string[];
  sheets(paper: string): string[];
  files(paper: string, sheet: string): PressedFile[];
  everyFile(paper: string): Iterable<PressedFile>;
  /** Notes that a sheet was printed from these tags, which of its files are new or others, and which are gone. */
  record(paper: string, sheet: string, tags: string[], pressed: PressedFile[], gone: string[]): void;
  drop(paper: string, sheet: string): void;
  /** What the tree was last pressed with in full; another stamp makes everything due. */
  stamp(paper: string): string;
  setStamp(paper: string, stamp: string): void;
  /** Takes the paper's press until a time, in ms; false while somebody else has it. */
  claim(paper: string, who: string, until: number, now: number): boolean;
  owner(paper: string): string | null;
  release(paper: string, who: string): void;
}
