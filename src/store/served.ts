import type { Db } from './open.ts';

type Service = 'desk' | 'records';

/** The public addresses at which the services were last served. */
export interface ServedTable {
  origin(service: Service): string | null;
  note(service: Service, origin: string): void;
}

export function servedTable(db: Db): ServedTable {
  const known = db.prepare('SELECT origin FROM served WHERE service = ?');
  const note = db.prepare(
    'INSERT INTO served (service, origin) VALUES (?, ?) ON CONFLICT DO UPDATE SET origin = excluded.origin',
  );
  const origin = (service: Service): string | null => {
    const [row] = known.all(service) as { origin: string }[];
    return row?.origin ?? null;
  };
  return {
    origin,
    note(service, at) {
      if (origin(service) !== at) note.run(service, at);
    },
  };
}
