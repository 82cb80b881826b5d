import { entriesOf } from '../../proof/narrow.ts';
import type { OriginOf, Rotation, Rotations } from '../../records/rotation.ts';
import type { TrackedName } from '../../records/tracked-values.ts';
import { type Db, integer, json, orNull, sql, text } from '../../shared/sql/sql.ts';
import { SIGNAL } from './records-deltas.ts';

/** The state of rotating signals, and the origins of networks. `host` is a hostname's id. */
export function rotationTables(db: Db) {
  const { run, insert, number, all, one } = sql(db);
  const ofHost = all('SELECT signal, state FROM rotations WHERE host = ?', { signal: SIGNAL, state: json<Rotation>() });
  const set = run('INSERT INTO rotations VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET state = excluded.state');
  const remove = run('DELETE FROM rotations WHERE host = ? AND signal = ?');
  const originAt = one('SELECT asn FROM network_origins WHERE network = ? AND seq <= ? ORDER BY seq DESC LIMIT 1', {
    asn: orNull(integer),
  });
  const addOrigin = insert('network_origins', { network: text, seq: integer, asn: orNull(integer) });
  /** The origins of networks as of an observation. */
  const originsAt =
    (seq: number): OriginOf =>
    (network) =>
      originAt(network, seq)?.asn ?? null;
  return {
    rotations: (host: number): Rotations =>
      Object.fromEntries(ofHost(host).map(({ signal, state }) => [signal, state])),
    setRotations(host: number, updates: Partial<Record<TrackedName, Rotation | null>>): void {
      for (const [signal, state] of entriesOf(updates)) {
        if (state === null || state === undefined) remove(host, signal);
        else set(host, signal, JSON.stringify(state));
      }
    },
    /** Rotation is learned only from observations after this one. */
    rotationStart: number('SELECT seq FROM rotation_start'),
    originsAt,
    /** Looks up origins for a new observation in the operator's table, and stores each one that was asked for. */
    notedOrigins:
      (seq: number, tableOrigin: OriginOf): OriginOf =>
      (network) => {
        const asn = tableOrigin(network);
        if (originsAt(seq)(network) !== asn) addOrigin({ network, seq, asn });
        return asn;
      },
  };
}
