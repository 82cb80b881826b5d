/** A number of bytes for people: `12.3 MB`. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** The same for progress, which counts whole ones. */
export function inMegabytes(bytes: number): number {
  return Math.ceil(bytes / 1e6);
}
