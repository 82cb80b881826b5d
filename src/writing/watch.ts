import { type FSWatcher, watch } from 'node:fs';

/** Editors write a file in several steps: a change counts when nothing more has happened for this long, in ms. */
const QUIET = 25;
/** The longest that a stream of changes, such as a checkout, is waited for, in ms. */
const LONGEST = 150;
/** How often to look where the system cannot watch, in ms. */
const POLL = 1_000;

/** Calls back after changes in its folders. It watches folders: renames are seen, and few handles are needed. */
export function folderWatch(changed: () => void) {
  const watchers = new Map<string, FSWatcher>();
  let poll: NodeJS.Timeout | undefined;
  let timer: NodeJS.Timeout | undefined;
  let since = 0;
  let isClosed = false;

  const hint = (): void => {
    if (isClosed) return;
    const now = performance.now();
    if (timer === undefined) since = now;
    clearTimeout(timer);
    const wait = Math.max(0, Math.min(QUIET, since + LONGEST - now));
    timer = setTimeout(() => {
      timer = undefined;
      changed();
    }, wait);
  };

  const drop = (folder: string, watcher: FSWatcher): void => {
    watcher.close();
    if (watchers.get(folder) === watcher) watchers.delete(folder);
    hint();
  };

  return {
    /** Follows these folders and no others. The folders themselves may come and go. */
    follow(folders: readonly string[]): void {
      if (isClosed) return;
      const wanted = new Set(folders);
      for (const [folder, watcher] of watchers) {
        if (wanted.has(folder)) continue;
        watcher.close();
        watchers.delete(folder);
      }
      let isPartial = folders.length === 0;
      for (const folder of wanted) {
        if (watchers.has(folder)) continue;
        try {
          const watcher = watch(folder, hint);
          watcher.on('error', () => drop(folder, watcher));
          watchers.set(folder, watcher);
        } catch {
          // Too many watches, or a file system without them.
          isPartial = true;
        }
      }
      if (isPartial) poll ??= setInterval(changed, POLL).unref();
      else {
        clearInterval(poll);
        poll = undefined;
      }
    },
    close(): void {
      isClosed = true;
      clearInterval(poll);
      clearTimeout(timer);
      for (const watcher of watchers.values()) watcher.close();
      watchers.clear();
    },
  };
}
