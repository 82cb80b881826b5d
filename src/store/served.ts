import { text } from './columns.ts';
import type { Db } from './open.ts';
import { sql } from './sql.ts';

type Service = 'desk' | 'records';

/** The public addresses under which the services were last served. */
export interface ServedTable {
  origin(service: Service): string | null;
  note(service: Service, origin: string): void;
}

export function servedTable(db: Db): ServedTable {
  const { run, one } = sql(db);
  const origin = one('SELECT origin FROM served WHERE service = ?', text);
  const note = run(
    'INSERT INTO served (service, origin) VALUES (?, ?) ON CONFLICT DO UPDATE SET origin = excluded.origin',
  );
  return {
    origin,
    note(service, at) {
      if (origin(service) !== at) note(service, at);
    },
  };
}
