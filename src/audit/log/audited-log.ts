import type { LogService } from '../../ledger/log/leaf.ts';
import type { LogVerifier } from './stored-heads.ts';

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
