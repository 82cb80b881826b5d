/**
 * An archive, or a thing in it, that cannot be read. Its message says what is wrong, with which value, and what to do.
 * Any other error is one of this machine, or a defect.
 */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
