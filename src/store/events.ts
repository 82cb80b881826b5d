import { ulid } from 'ulid';
import type { DeskEvent } from '../desk/event.ts';
import type { EventTable, KeptEvent } from '../readers/event-table.ts';
import { flag, integer, json, oneOf, orNull, text } from './columns.ts';
import type { Db } from './open.ts';
import type { Read } from './sql.ts';
import { sql } from './sql.ts';

/** The columns of an event; `eventOf` builds the event from them. */
export const EVENT = {
  n: integer,
  id: text,
  paper: text,
  type: oneOf('story.aired', 'story.revised', 'story.withdrawn', 'cast.published'),
  at: integer,
  told: json<object>(),
};
export const EVENT_COLUMNS = Object.keys(EVENT).join(', ');

export interface Events extends EventTable {
  append(event: DeskEvent): void;
}

/** Events for readers: the desk appends them, and the alerts read them. */
export function eventTable(db: Db): Events {
  const { run, one } = sql(db);
  const append = run(
    'INSERT INTO events (id, paper, type, piece, revision, day, at, told) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const mark = one('SELECT n, after FROM event_marks WHERE name = ?', { n: integer, after: text });
  const setMark = run(
    'INSERT INTO event_marks (name, n, after) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = excluded.n, after = excluded.after',
  );
  const withheld = one('SELECT headline_withheld FROM pieces WHERE id = ?', flag);
  const last = one('SELECT max(n) FROM events', orNull(integer));
  return {
    append(event) {
      const { type, paper, at, ...told } = event;
      const [piece, revision, day] =
        event.type === 'cast.published' ? [null, null, event.cast.day] : [event.story.id, event.story.revision, null];
      append(ulid().toLowerCase(), paper, type, piece, revision, day, at, JSON.stringify(told));
    },
    next: one(`SELECT ${EVENT_COLUMNS} FROM events WHERE n > ? ORDER BY n LIMIT 1`, EVENT, eventOf),
    mark: (name) => mark(name) ?? { n: 0, after: '' },
    setMark(name, { n, after }) {
      setMark(name, n, after);
    },
    isWithheld: (piece) => withheld(piece) ?? false,
    last: () => last() ?? 0,
    forget: run('DELETE FROM events WHERE at <= ? AND n <= (SELECT min(n) FROM event_marks)'),
  };
}

/** Members of a row that events of earlier versions do not have. */
const ADDED_LATER = { writer: null, tags: [] };

/** `told` is a JSON object with the members of an event that have no column. */
export function eventOf({ told, ...columns }: Read<typeof EVENT>): KeptEvent {
  const event = { ...columns, ...told } as KeptEvent;
  if (!('story' in event)) return event;
  const story = { ...ADDED_LATER, ...event.story };
  const writers = story.writers ?? (story.writer === null ? [] : [{ name: story.writer }]);
  return { ...event, story: { ...story, writers } };
}
