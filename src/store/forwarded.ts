import { integer, oneOf, text } from './columns.ts';
import type { Db } from './open.ts';
import { sql } from './sql.ts';

/** A proxy on this machine that is missing from TRUSTED_PROXIES. */
export interface Forwarded {
  service: 'desk' | 'records';
  address: string;
  /** When it was last seen, in ms. */
  at: number;
}

/** Services that receive requests through a proxy that is missing from TRUSTED_PROXIES. */
export interface ForwardedTable {
  list(): Forwarded[];
  note(seen: Forwarded): void;
  forget(service: Forwarded['service']): void;
}

export function forwardedTable(db: Db): ForwardedTable {
  const { run, all } = sql(db);
  const note = run(
    `INSERT INTO forwarded (service, address, at) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET address = excluded.address, at = excluded.at`,
  );
  return {
    list: all('SELECT service, address, at FROM forwarded ORDER BY service', {
      service: oneOf('desk', 'records'),
      address: text,
      at: integer,
    }),
    note({ service, address, at }) {
      note(service, address, at);
    },
    forget: run('DELETE FROM forwarded WHERE service = ?'),
  };
}
