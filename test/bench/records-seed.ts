import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import Database from 'libsql';
import { facetsOf } from '../../src/records/facets.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { recordProbe } from '../../src/records/recording.ts';
import { trackedValues } from '../../src/records/tracked-values.ts';
import { type AppContext, openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { newId } from '../../src/shared/new-id.ts';
import { seededProbes } from '../support/seeded-records.ts';
import { busyHost } from './busy-host.ts';
import { environmentOf } from './paper.ts';

const DAY = 86_400_000;
/** Days over which the changes are spread. */
const SPAN = 60;
/** Hostnames that are really looked at: theirs are the pages that are asked for. */
const LOOKED_AT = 1_200;
/** Looks at each of those. */
const LOOKS = 5;

export interface Seeded {
  /** The hostnames that have an observation of their own. */
  looked: string[];
}

export function openRecords(folder: string): AppContext {
  return openAppContext(readSettings(environmentOf(folder)));
}

/**
 * Fills the records with so many hostnames and changes: some hostnames are
 * looked at and signed for, the others have a copy of such an observation, and
 * the changes are spread over all of them by SQL, because a million signatures
 * would say nothing more about reading.
 */
export function seedRecords(folder: string, { hosts, deltas }: { hosts: number; deltas: number }): Seeded {
  const app = openRecords(folder);
  const now = Date.now();
  const looked = Array.from({ length: LOOKED_AT }, (_, n) => `host-${n}.looked-at-${n % 97}.example`);
  const others = Array.from({ length: hosts - LOOKED_AT }, (_, n) => `www-${n}.filler-${n % 9_973}.example`);
  const { store } = app;
  for (const names of [looked, others]) {
    for (let at = 0; at < names.length; at += 5_000) {
      store.database.transact(() =>
        store.records.watch(names.slice(at, at + 5_000).map(parseHostname), now - SPAN * DAY),
      );
    }
  }
  app.signer.open();
  lookAt(app, looked, now);
  setFacets(app, others, now);
  app.close();
  spread(folder, { deltas, now });
  return { looked };
}

/** Lists hostnames by what busy hosts show, as looks on the days before would have: each name has its own name servers. */
function setFacets({ store: { records, database } }: AppContext, names: string[], now: number): void {
  for (let at = 0; at < names.length; at += 5_000) {
    database.transact(() => {
      for (const [n, name] of names.slice(at, at + 5_000).entries()) {
        const values = Object.entries(trackedValues(busyHost(name, 0, now)));
        const known = values.map(([signal, values]) => [signal, { values: values ?? [], missing: [] }]);
        const day = Math.min(now, now - (SPAN / 2) * DAY + Math.floor(((at + n) / names.length) * (SPAN / 2)) * DAY);
        records.setFacets(records.find(name)?.id ?? 0, facetsOf(Object.fromEntries(known)), day);
      }
    });
  }
}

/** Enters looks at the hostnames, in the shapes of the made-up ones, each with changes since the one before. */
function lookAt({ store, settings, signer: right }: AppContext, names: string[], now: number): void {
  const shapes = seededProbes(now - DAY, LOOKS);
  const kinds = shapes.length / LOOKS;
  const { signer, kid } = right.key('desk');
  for (let day = 0; day < LOOKS; day++) {
    store.database.transact(() => {
      for (const [index, hostname] of names.entries()) {
        const shape = shapes[day * kinds + (index % kinds)];
        if (shape === undefined) continue;
        const lease = { id: newId(), owner: 'bench', until: now };
        store.records.leaseNames({ ...lease, names: [hostname] });
        const tools = { signer, kid, now: shape.at, every: settings.scanEvery, randomBytes };
        recordProbe(store.records, lease.id, { ...shape, hostname }, tools);
      }
    });
  }
}

/** An observation for each hostname that has none, and as many changes as there are to be. */
function spread(folder: string, { deltas, now }: { deltas: number; now: number }): void {
  const db = new Database(join(folder, 'var/broadsheet.db'));
  db.exec(`
    PRAGMA synchronous = off;
    INSERT INTO observations (seq, host, observed_at, body, patch, circumstances, shared, seed, receipt, receipt_hash,
        signer, fields, root, prev, hash, signature)
      SELECT (SELECT max(seq) FROM observations) + row_number() OVER (ORDER BY h.id),
        h.id, ${now - DAY}, o.body, o.patch, o.circumstances, o.shared, o.seed, o.receipt, o.receipt_hash,
        o.signer, o.fields, o.root, o.prev, o.hash, o.signature
      FROM hostnames h JOIN observations o ON o.seq = 1 + h.id % (SELECT max(seq) FROM observations)
      WHERE h.looked_at IS NULL;
    UPDATE hostnames SET looked_at = ${now - DAY}, seq = (SELECT max(seq) FROM observations o WHERE o.host = hostnames.id)
      WHERE looked_at IS NULL;
  `);
  const before = db.prepare('SELECT count(*) AS known, max(at) AS at FROM deltas').all()[0] as {
    known: number;
    at: number;
  };
  const missing = deltas - before.known;
  // Newer than those of the looks: `at` rises with `seq`.
  const step = Math.max(1, Math.floor((now - before.at) / missing));
  db.exec(`
    WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${missing})
    INSERT INTO deltas (seq, host, at, signal, kind, "before", "after", observation)
      SELECT ${before.known} + n, h.id, ${before.at} + n * ${step}, d.signal, d.kind, d."before", d."after", h.seq
      FROM n
        JOIN hostnames h ON h.id = 1 + (n * 7919) % (SELECT max(id) FROM hostnames)
        JOIN deltas d ON d.seq = 1 + n % ${before.known};
    ANALYZE;
  `);
  db.close();
}
