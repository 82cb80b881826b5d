import type { Db } from './open.ts';

/** A proxy on this machine that no setting names. */
export interface Forwarded {
  service: 'desk' | 'records';
  address: string;
  /** When it was noted last, in ms. */
  at: number;
}

/** Which services get requests through a proxy that they do not know. */
export interface ForwardedTable {
  list(): Forwarded[];
  note(seen: Forwarded): void;
  forget(service: Forwarded['service']): void;
}

export function forwardedTable(db: Db): ForwardedTable {
  const list = db.prepare('SELECT service, address, at FROM forwarded ORDER BY service');
  const note = db.prepare(
    `INSERT INTO forwarded (service, address, at) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET address = excluded.address, at = excluded.at`,
  );
  const forget = db.prepare('DELETE FROM forwarded WHERE service = ?');
  return {
    list: () => list.all() as Forwarded[],
    note({ service, address, at }) {
      note.run(service, address, at);
    },
    forget(service) {
      forget.run(service);
    },
  };
}
