import { type FSWatcher, watch } from 'node:fs';

/** Editors write a file in several steps: a change counts when nothing more has happened for this long, in ms. */
const QUIET = 25;
/** The longest that a stream of changes, such as a checkout, is waited for, in ms. */
const LONGEST = 150;
/** How often to look where the system cannot watch, in ms. */
const POLL = 1_000;

/** Calls back after changes in its folders. It watches folders: renames are seen, and few handles are needed. */
export class FolderWatch {
  readonly #changed: () => void;
  readonly #watchers = new Map<string, FSWatcher>();
  #poll: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;
  #since = 0;
  #isClosed = false;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Follows these folders and no others. The folders themselves may come and go. */
  follow(folders: readonly string[]): void {
    if (this.#isClosed) return;
    const wanted = new Set(folders);
    for (const [folder, watcher] of this.#watchers) {
      if (wanted.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    let isPartial = folders.length === 0;
    for (const folder of wanted) {
      if (this.#watchers.has(folder)) continue;
      try {
        const watcher = watch(folder, () => this.#hint());
        watcher.on('error', () => this.#drop(folder, watcher));
        this.#watchers.set(folder, watcher);
      } catch {
        // Too many watches, or a file system without them.
        isPartial = true;
      }
    }
    if (isPartial) this.#poll ??= setInterval(() => this.#changed(), POLL).unref();
    else {
      clearInterval(this.#poll);
      this.#poll = undefined;
    }
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#poll);
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #drop(folder: string, watcher: FSWatcher): void {
    watcher.close();
    if (this.#watchers.get(folder) === watcher) this.#watchers.delete(folder);
    this.#hint();
  }

  #hint(): void {
    if (this.#isClosed) return;
    const now = performance.now();
    if (this.#timer === undefined) this.#since = now;
    clearTimeout(this.#timer);
    const wait = Math.max(0, Math.min(QUIET, this.#since + LONGEST - now));
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#changed();
    }, wait);
  }
}
