/** How many answers `untilCommit` remembers. */
const REMEMBERED = 10_000;

/** Remembers what `read` says of a name, unless it is null, until anything is committed (`commitMark`). */
export function untilCommit<T>(
  commitMark: () => number | null,
  read: (name: string) => T | null,
): (name: string) => T | null {
  const known = new Map<string, T>();
  // At once, which opens the file that is compared: another one may lie at its path later, as after a restore.
  let knownAt = commitMark();
  return (name) => {
    // Before the read: after a commit in between, the next call reads again.
    const mark = commitMark();
    if (mark === null) return read(name);
    if (mark !== knownAt || known.size === REMEMBERED) known.clear();
    knownAt = mark;
    const found = known.get(name) ?? read(name);
    if (found !== null) known.set(name, found);
    return found;
  };
}
