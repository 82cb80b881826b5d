import { type Db, integer, sql, text } from './sql.ts';

/** An observation whose rows an older version cut, as an operator accepted it. `at` in ms. */
export interface DamagedObservation {
  seq: number;
  at: number;
  reason: string;
}

/** The observations that are marked as damaged: appended, never changed. */
export interface DamageTable {
  damagedObservations(): DamagedObservation[];
  markDamaged(observation: DamagedObservation): void;
  /** The host of an observation, whether or not it is shown; null when there is no such observation. */
  hostOfObservation(seq: number): { id: number; hostname: string } | null;
}

export function damageTable(db: Db): DamageTable {
  const { run, one, all } = sql(db);
  const add = run('INSERT INTO damaged_observations VALUES (?, ?, ?)');
  return {
    damagedObservations: all('SELECT seq, at, reason FROM damaged_observations ORDER BY seq', {
      seq: integer,
      at: integer,
      reason: text,
    }),
    markDamaged: ({ seq, at, reason }) => void add(seq, at, reason),
    hostOfObservation: one(
      'SELECT id, hostname FROM hostnames WHERE id = (SELECT host FROM observations WHERE observations.seq = ?)',
      { id: integer, hostname: text },
    ),
  };
}
