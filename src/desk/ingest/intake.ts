import type { MediaFiles } from '../../media/media.ts';
import type { Desk } from '../filing.ts';
import type { RecordKind } from '../ledger-entry.ts';
import type { LedgerStore } from '../ledger-store.ts';
import type { HostGrants } from '../papers/host.ts';
import type { Paper } from '../papers/paper.ts';
import type { SharedDatabase } from './short-transactions.ts';

export interface Intake extends HostGrants {
  store: IntakeStore;
  media: Pick<MediaFiles, 'keepFile' | 'has'>;
  settings: HostGrants['settings'] & {
    /** The folder that contains a folder for each paper. */
    contentDir: string;
  };
  desk: Desk;
  /** Creates the signing key if there is none. Called before the first piece is filed. */
  openSigningKey(): void;
}

interface IntakeStore extends LedgerStore {
  paper: HostGrants['store']['paper'];
  removedPaper(slug: string): (Paper & { removed_at: number }) | null;
  hosts: HostGrants['store']['hosts'];
  /** `sha256:<hex>` of a file as last filed; null if it never was. */
  applied(file: string): string | null;
  setApplied(file: string, digest: string): void;
  /** Files below a folder that were filed, by their names in reports. */
  appliedIn(folder: string): string[];
  forgetApplied(file: string): void;
  /** The newest body of a record; null when there is none. */
  record(paper: string, kind: RecordKind, name: string): unknown;
  leases: SharedDatabase['store']['leases'];
  /** When the next scheduled piece is due, in ms; null when none is scheduled. */
  nextScheduled(): number | null;
  /** Merges the segments of the search index after a long run. */
  optimizeSearch(): void;
}
