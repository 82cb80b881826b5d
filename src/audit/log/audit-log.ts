import type { AuditParts } from '../parts.ts';
import type { AuditedLog } from './audited-log.ts';
import { ledgerLeafFaults } from './ledger-leaves.ts';
import { publicationFaults, publicationIn } from './published-log.ts';
import { cosignatureFaults, headFaults } from './stored-heads.ts';
import { storedLeaves } from './stored-leaves.ts';

/**
 * Audits a transparency log: its leaves against everything that was signed, its nodes and heads against its leaves,
 * its cosignatures, and its published files. Returns the faults, and the number of leaves.
 */
export async function auditLog(
  { store, progress }: Pick<AuditParts, 'store' | 'progress'>,
  { log, folder, verifier, texts, key_fault }: AuditedLog,
): Promise<{ leaves: number; faults: string[] }> {
  const publication = publicationIn(folder, texts);
  const { leaves, faults, cosignatures } = store.read(() => {
    const found: string[] = key_fault === null ? [] : [key_fault];
    const step = (done: number, total: number) => progress(`audit the log of the ${log}`, done, total, '');
    const stored = storedLeaves(store.log, log, found, step);
    // The past of an older database is filled in when it is signed for the first time.
    if (store.log.isFilled(log)) found.push(...ledgerLeafFaults(store, log, stored));
    const cosigned = headFaults(store.log, log, verifier, found);
    if (publication !== null) found.push(...publicationFaults(store.log, log, publication));
    return { leaves: stored.kinds.length, faults: found, cosignatures: cosigned };
  });
  faults.push(...(await cosignatureFaults(cosignatures)));
  return { leaves, faults: faults.map((fault) => `log of the ${log}: ${fault}`) };
}
