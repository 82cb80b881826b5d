import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { basename, join, relative, sep } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { paperFolders } from '../desk/ingest/content-folder.ts';
import { DeskFolder } from '../desk/ingest/desk-folder.ts';
import type { Intake } from '../desk/ingest/intake.ts';
import { applyRecords } from '../desk/ingest/record-files.ts';
import type { FileProblem } from '../desk/ingest/source-file.ts';
import { storyFiles } from '../desk/ingest/stories.ts';
import type { OwnAddresses } from '../desk/papers/host.ts';
import { isLink } from '../shared/files/plain-file.ts';
import type { Store } from '../store/store.ts';
import { backgroundMediaReader } from './background-media-reader.ts';
import { askedPlaces, deskStore } from './desk-store.ts';
import { type DeskPiece, type PieceFiles, readPiece, savedAt } from './piece.ts';

/** The longest that the desk works before it yields to requests, in ms. */
const TURN = 30;

/** A paper in the state of its folder. */
export interface DeskPaper {
  slug: string;
  folder: string;
  /** Problems of its records, its media and the names of its files. */
  problems: FileProblem[];
  pieces: Map<string, DeskPiece>;
}

export type WritingDesk = ReturnType<typeof writingDesk>;

/**
 * The writing desk: the content folder on disk, including drafts and rejected pieces, behind the same archive from
 * which the press prints. Its store is private and in memory; it signs nothing, and does not open the operator's
 * database. Every piece is on air there, whatever its files say: `papers` says what filing would do. `changed` is called
 * when the desk shows something else because media were read in the background.
 */
export function writingDesk(
  { contentDir, ...addresses }: OwnAddresses & { contentDir: string },
  { now = Date.now, changed = () => {} }: { now?: () => number; changed?: () => void } = {},
) {
  const papers = new Map<string, DeskPaper>();
  const rows = deskStore(now);
  const mediaPaths = new Map<string, string>();
  let seen: Listing = { files: new Map(), folders: [] };
  const media = backgroundMediaReader((path) => seen.files.get(path) ?? '');
  let isClosed = false;
  let scan: Promise<unknown> = Promise.resolve();

  const isStory = (path: string): boolean => isStoryName(relative(contentDir, path));

  /** Runs `work` after that of earlier calls. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = scan.then(work);
    scan = done.catch(() => {});
    return done;
  }

  async function readChanges(): Promise<boolean> {
    const before = seen;
    seen = listing(contentDir);
    const different = changedPaths(before.files, seen.files);
    const slugs = new Set(paperFolders(contentDir).map((folder) => basename(folder)));
    const gone = [...papers.keys()].filter((slug) => !slugs.has(slug));
    const isNew = [...slugs].some((slug) => !papers.has(slug));
    if (different.size === 0 && gone.length === 0 && !isNew) return false;
    const lost = [...different].some((path) => before.files.has(path) && !seen.files.has(path) && !isStory(path));
    // Records are only ever added to a store: a folder that has lost one is read into a new store.
    const isAll = lost || gone.length > 0;
    if (isAll) {
      rows.clear();
      papers.clear();
    }
    for (const slug of slugs) await readPaper(slug, isAll ? new Set(seen.files.keys()) : different);
    return true;
  }

  async function readPaper(slug: string, different: ReadonlySet<string>): Promise<void> {
    const folder = join(contentDir, slug);
    const own = [...different].filter((path) => path.startsWith(folder + sep));
    const known = papers.get(slug);
    if (known !== undefined && own.length === 0) return;
    const at = new DeskFolder(intake(), folder);
    const areRecordsNew = known === undefined || own.some((path) => !isStory(path));
    let problems = known?.problems ?? [];
    if (areRecordsNew) {
      await readMedia(folder);
      const isPaper = await applyRecords(at, media);
      problems = [...at.result.problems];
      if (!isPaper) {
        papers.set(slug, { slug, folder, problems, pieces: new Map() });
        return;
      }
    } else if (!rows.store().desk.hasPaper(slug)) return;
    const names = new DeskFolder(intake(), folder);
    const files = storyFiles(names);
    // The names are looked up each time.
    const pieces = await readPieces(slug, files, areRecordsNew ? undefined : known?.pieces);
    const places = askedPlaces(pieces.values(), now());
    rows.place(slug, places);
    problems = [...problems.filter(({ file }) => !isStoryName(file)), ...names.result.problems, ...places.problems];
    papers.set(slug, { slug, folder, problems, pieces });
  }

  /** Reads the media of a paper. If there are many, they are read in the background, and shown afterwards. */
  async function readMedia(folder: string): Promise<void> {
    const root = join(folder, 'media') + sep;
    const files = [...seen.files.keys()].filter((path) => path.startsWith(root) && !isLink(path));
    const named = files.map((path) => ({ name: relative(folder, path).split(sep).join('/'), path }));
    await media.read(named, () => void showMedia(folder));
  }

  async function showMedia(folder: string): Promise<void> {
    const slug = basename(folder);
    await inTurn(async () => {
      if (!isClosed && papers.has(slug)) await readPaper(slug, new Set([join(folder, 'media', 'read')]));
    });
    if (!isClosed) changed();
  }

  /** Reads the pieces whose files have changed; all of them, when `known` is undefined. */
  async function readPieces(
    slug: string,
    files: ReturnType<typeof storyFiles>,
    known: ReadonlyMap<string, DeskPiece> | undefined,
  ): Promise<Map<string, DeskPiece>> {
    const archive = rows.store().desk.archive(slug);
    const pieces = new Map<string, DeskPiece>();
    let start = performance.now();
    for (const [name, revisions] of files) {
      const found: PieceFiles = {
        slug: name,
        files: revisions.map(({ path }) => {
          const stamp = seen.files.get(path) ?? '';
          const file = relative(contentDir, path);
          return { path, file, stamp, savedAt: Math.floor(Number.parseFloat(stamp) || 0) };
        }),
      };
      const before = known?.get(name);
      const isSame = before !== undefined && isDeepStrictEqual(before.files, found.files);
      pieces.set(name, isSame ? before : readPiece(found, archive, now()));
      if (performance.now() - start > TURN) {
        await turn();
        start = performance.now();
      }
    }
    rows.show(slug, pieces);
    return pieces;
  }

  function intake(): Intake {
    const { desk, database } = rows.store();
    const { leases, log, fault } = database;
    return {
      store: {
        ...desk,
        ...{ leases, log, fault },
        // The folder is the whole truth here: if it drops a section, the pieces that still name it have a problem.
        archive(slug) {
          const archive = desk.archive(slug);
          return { ...archive, list: (...of) => ({ ...archive.list(...of), count: () => 0 }), scheduled: () => [] };
        },
      },
      media: { keepFile: (digest, path) => mediaPaths.set(digest, path), keepBytes() {}, has: () => true },
      settings: { ...addresses, contentDir, demoDates: false },
      get desk(): never {
        throw new Error('the writing desk files nothing');
      },
      openSigningKey() {},
      now,
    };
  }

  return {
    contentDir,
    papers,
    /** The folders below the content folder, as last seen. */
    folders: (): readonly string[] => seen.folders,
    /** The papers and their pieces as the press reads them. Replaced when a file of a record is removed. */
    get store(): Store {
      return rows.store();
    },
    mediaPath: (digest: string): string => mediaPaths.get(digest) ?? '',
    /** The story files of a paper as reports name them, whether the door takes them or not. */
    storyNames(paper: string): string[] {
      const folder = join(contentDir, paper, 'stories') + sep;
      const paths = [...seen.files.keys()].filter((path) => path.startsWith(folder) && path.endsWith('.md'));
      return paths.map((path) => relative(contentDir, path));
    },
    savedLast(): { paper: string; piece: DeskPiece } | null {
      const all = [...papers.values()].flatMap(({ slug: paper, pieces }) =>
        [...pieces.values()].map((piece) => ({ paper, piece })),
      );
      return all.sort((a, b) => savedAt(b.piece) - savedAt(a.piece))[0] ?? null;
    },
    /** Reads again what has changed on disk. Resolves with whether anything has. Calls wait for one another. */
    refresh: (): Promise<boolean> => inTurn(readChanges),
    close(): void {
      isClosed = true;
      rows.close();
    },
  };
}

/** Whether a problem's file is one of those that `storyFiles` looks at. */
function isStoryName(file: string): boolean {
  return file.split(sep)[1] === 'stories';
}

/** The content of a folder, by path. */
interface Listing {
  /** A text for each file or link that changes whenever it is written, replaced or touched. */
  files: Map<string, string>;
  folders: string[];
}

/** Lists a folder and everything below it, without names that begin with a dot. An unreadable folder is empty. */
function listing(folder: string, into: Listing = { files: new Map(), folders: [] }): Listing {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    return into;
  }
  into.folders.push(folder);
  for (const entry of entries) {
    if (entry.name.startsWith('.')) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) listing(path, into);
    else into.files.set(path, stampOf(path));
  }
  return into;
}

/** A text that changes with the file; with the inode, because a file may be replaced within the same millisecond. */
function stampOf(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.mtimeMs} ${found.ctimeMs} ${found.size} ${found.ino}`;
}

/** The paths whose stamps differ, including those that only one of the two has. */
function changedPaths(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): Set<string> {
  const changed = new Set<string>();
  for (const [path, stamp] of now) if (before.get(path) !== stamp) changed.add(path);
  for (const path of before.keys()) if (!now.has(path)) changed.add(path);
  return changed;
}
