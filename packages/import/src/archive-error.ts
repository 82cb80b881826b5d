/**
 * An archive or an item in it cannot be read. The message says what is wrong, with which value, and what to do. Any
 * other error is a problem of this machine, or a defect.
 */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
