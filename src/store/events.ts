import { ulid } from 'ulid';
import type { DeskEvent } from '../desk/event.ts';
import type { EventMark, EventTable, KeptEvent } from '../readers/event-table.ts';
import type { Db } from './open.ts';

interface Row {
  n: number;
  id: string;
  paper: string;
  type: DeskEvent['type'];
  at: number;
  told: string;
}

/** What readers are to be told of: appended by the desk, read by those who tell. */
export function eventTable(db: Db): EventTable & { append(event: DeskEvent): void } {
  const append = db.prepare(
    'INSERT INTO events (id, paper, type, piece, revision, day, at, told) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const next = db.prepare('SELECT n, id, paper, type, at, told FROM events WHERE n > ? ORDER BY n LIMIT 1');
  const mark = db.prepare('SELECT n, after FROM event_marks WHERE name = ?');
  const setMark = db.prepare(
    'INSERT INTO event_marks (name, n, after) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = excluded.n, after = excluded.after',
  );
  const last = db.prepare('SELECT max(n) AS n FROM events');
  const forget = db.prepare('DELETE FROM events WHERE at <= ? AND n <= (SELECT min(n) FROM event_marks)');
  return {
    append(event) {
      const { type, paper, at, ...told } = event;
      const [piece, revision, day] =
        event.type === 'cast.published' ? [null, null, event.cast.day] : [event.story.id, event.story.revision, null];
      append.run(ulid().toLowerCase(), paper, type, piece, revision, day, at, JSON.stringify(told));
    },
    next(n) {
      const [row] = next.all(n);
      return row === undefined ? null : keptEvent(row);
    },
    mark(name) {
      const [row] = mark.all(name) as EventMark[];
      return row ?? { n: 0, after: '' };
    },
    setMark(name, { n, after }) {
      setMark.run(name, n, after);
    },
    last: () => (last.all() as { n: number | null }[])[0]?.n ?? 0,
    forget(until) {
      forget.run(until);
    },
  };
}

/** An event from a row of it. */
export function keptEvent(row: unknown): KeptEvent {
  const { told, ...rest } = row as Row;
  return { ...rest, ...(JSON.parse(told) as object) } as KeptEvent;
}
