import type { Render, RenderedFile } from '../press/output.ts';
import type { Store } from '../store/store.ts';

/** What an auditor is given: the database, where the trees are, and what prints them. */
export interface AuditParts {
  store: Store;
  /** The folder that holds each paper's tree. */
  distDir: string;
  /** Where DATA_DIR keeps a media file. */
  mediaFile(digest: string): string;
  /** The built pages; asked for only when there is a public paper. */
  loadBuild(): Promise<AuditBuild>;
  /** Where a paper is published and pressed to, and what its tree was pressed with if it is of today. */
  planOf(paper: string, build: AuditBuild): { root: string; folder: string; stamp: string };
  /** The present time, in ms. */
  now(): number;
  progress(label: string, done: number, total: number, what: string): void;
}

export interface AuditBuild {
  render: Render;
  assets(): Iterable<RenderedFile>;
  /** Names the code that a tree is pressed with. */
  stamp: string;
}

/** The cure for most of what may be wrong with a tree. */
export const PRESS_AGAIN = 'run `npm run -s broadsheet -- press --full`';
