import { readFileSync } from 'node:fs';
import type { Site } from '../../desk/press/edition.ts';
import type { Pictures, Render, RenderedFile } from '../../desk/press/output.ts';
import type { LogService } from '../../proof/log/leaf.ts';
import type { Store } from '../../store/store.ts';
import type { LogVerifier } from './log/stored-log.ts';

/** The dependencies of an audit: the database, the trees, and their renderer. */
export interface AuditParts {
  store: Store;
  /** The folder that holds each paper's tree. */
  distDir: string;
  /** The path of a media file in DATA_DIR. */
  mediaFile(digest: string): string;
  pictures: Pictures;
  /** The built pages, loaded only when there is a public paper. */
  loadBuild(): Promise<AuditBuild>;
  /** The address and folder of a paper, and the stamp of an up-to-date tree. */
  planOf(paper: string, build: AuditBuild): { site: Site; folder: string; stamp: string };
  /** A transparency log, apart from its rows. */
  auditedLog(log: LogService): AuditedLog;
  /** The current time, in ms. */
  now(): number;
  progress(label: string, done: number, total: number, what: string): void;
}

interface AuditBuild {
  render: Render;
  assets(): Iterable<RenderedFile>;
  /** Identifies the code that presses trees. */
  stamp: string;
}

/** The remedy for most faults of a tree. */
export const PRESS_AGAIN = 'run `npm run -s broadsheet -- press --full`';

/** A log as an audit finds it beside the database. */
export interface AuditedLog {
  log: LogService;
  /** The folder of its published files. */
  folder: string;
  /** The key that it signs with; null when it has none yet. */
  verifier: LogVerifier | null;
  /** The texts of the published files other than the tree, by name. */
  texts: Record<string, string>;
  /** What is wrong with its key file; null when nothing is. */
  key_fault: string | null;
}

/** The bytes of a file; null when it does not exist or is not a file. */
export function bytesOf(file: string): Buffer | null {
  try {
    return readFileSync(file);
  } catch {
    return null;
  }
}
