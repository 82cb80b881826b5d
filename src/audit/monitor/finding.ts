/** What a monitor finds wrong. */
export const FINDING_KINDS = [
  /** The log has another history than it had. */
  'fork',
  /** The log has fewer leaves than it had. */
  'shrunken',
  /** Two receipts say that they are the same one. */
  'two-receipts',
  /** A receipt is not signed by a key that the log announces for its time, or a key is announced wrongly. */
  'key',
  /** An entry is not a well-formed leaf. */
  'leaf',
  /** A page shows a receipt that the log does not have. */
  'unlogged',
  /** A page does not show what its receipt says. */
  'altered',
  /** A page has gone or shows another piece, and no leaf says that it was withdrawn. */
  'gone',
] as const;

export interface Finding {
  kind: (typeof FINDING_KINDS)[number];
  /** The log's origin with the leaf, or the page. */
  where: string;
  /** What was found, and what it means, each one line. */
  what: string;
  means: string;
}

/** A finding in one line for people. */
export function findingLine({ kind, where, what, means }: Finding): string {
  return `${where}: ${kind}: ${what}; ${means}`;
}
