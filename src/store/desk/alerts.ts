import { ulid } from 'ulid';
import type { DeskEvent } from '../../desk/event.ts';
import type { AlertTable } from '../../desk/readers/alert.ts';
import type { EventTable, StoredEvent } from '../../desk/readers/event-table.ts';
import { CADENCES } from '../../desk/readers/subscriber.ts';
import { columnsOf, type Db, flag, integer, json, oneOf, orNull, type Read, sql, text } from '../../shared/sql/sql.ts';

const EVENT = {
  n: integer,
  id: text,
  paper: text,
  type: oneOf('story.aired', 'story.revised', 'story.withdrawn', 'cast.published', 'fact.corrected', 'fact.to_revise'),
  at: integer,
  told: json<object>(),
};
const EVENTS = `SELECT ${columnsOf(EVENT)} FROM events`;

const READER = {
  id: text,
  cadence: oneOf(...CADENCES),
  sections: orNull(json<string[]>()),
  cast: flag,
  confirmed_at: integer,
  through: orNull(integer),
};
const READER_COLUMNS = columnsOf(READER, 's');
const SOUND = `s.confirmed_at IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM suppressions x WHERE x.paper = s.paper AND x.reader = s.reader)`;

/** Events for readers: the desk appends them, and the alerts read them. */
export function eventTable(db: Db): EventTable & { append(event: DeskEvent): void } {
  const { run, insert, upsert, one, number } = sql(db);
  const append = insert('events', ['id', 'paper', 'type', 'piece', 'revision', 'day', 'at', 'told']);
  const cursor = one('SELECT n, after FROM event_marks WHERE name = ?', { n: integer, after: text });
  const setCursor = upsert('event_marks', ['name'], ['n', 'after']);
  const withheld = one('SELECT headline_withheld FROM pieces WHERE id = ?', flag);
  return {
    append(event) {
      const { type, paper, at, ...told } = event;
      const { id: piece = null, revision = null } = 'story' in event ? event.story : {};
      const day = event.type === 'cast.published' ? event.cast.day : null;
      append({ id: ulid().toLowerCase(), paper, type, piece, revision, day, at, told });
    },
    next: one(`${EVENTS} WHERE n > ? ORDER BY n LIMIT 1`, EVENT, eventOf),
    cursor: (name) => cursor(name) ?? { n: 0, after: '' },
    setCursor: (name, { n, after }) => void setCursor({ name, n, after }),
    isWithheld: (piece) => withheld(piece) ?? false,
    last: number('SELECT max(n) FROM events'),
    forget: run('DELETE FROM events WHERE at <= ? AND n <= (SELECT min(n) FROM event_marks)'),
  };
}

/** Members that events stored by earlier versions lack. */
const ADDED_LATER = { writer: null, tags: [], word_count: 0 };

/** `told` is a JSON object with the members of an event that have no column. */
function eventOf({ told, ...columns }: Read<typeof EVENT>): StoredEvent {
  const event = { ...columns, ...told } as StoredEvent;
  if (!('story' in event)) return event;
  const story = { ...ADDED_LATER, ...event.story };
  const writers = story.writers ?? (story.writer === null ? [] : [{ name: story.writer }]);
  return { ...event, story: { ...story, writers } };
}

/** The readers who receive events by mail. */
export function alertTable(db: Db): AlertTable {
  const { run, insert, upsert, one, has, all } = sql(db);
  const ofCadence = `SELECT ${READER_COLUMNS} FROM subscribers s
    WHERE s.paper = ?1 AND s.cadence = ?2 AND s.id > ?3 AND ${SOUND} ORDER BY s.id LIMIT ?4`;
  const instant = all(ofCadence, READER);
  // Each half scans an index of its own and stops at the limit.
  const daily = all(
    `SELECT * FROM (${ofCadence}) UNION ALL
     SELECT * FROM (SELECT ${READER_COLUMNS} FROM subscribers s INDEXED BY subscribers_owed
       WHERE s.owed = 1 AND s.cadence = 'instant' AND s.paper = ?1 AND s.id > ?3 AND ${SOUND} ORDER BY s.id LIMIT ?4)
     ORDER BY id LIMIT ?4`,
    READER,
  );
  const hasAlerted = has(
    `SELECT 1 FROM events WHERE paper = ?1 AND type = ?2 AND piece IS ?3 AND day IS ?4 AND n < ?5 LIMIT 1`,
  );
  const eventsAt = all(`${EVENTS} WHERE n IN (SELECT value FROM json_each(?)) ORDER BY n`, EVENT, eventOf);
  const queue = insert(
    'mails',
    ['id', 'paper', 'subscriber', 'kind', 'about', 'due_at', 'state', 'events'],
    'ON CONFLICT DO NOTHING',
  );
  const alertedInstantly = all(
    `SELECT about FROM mails
     WHERE subscriber = ? AND kind = 'instant' AND about IN (SELECT value FROM json_each(?))`,
    text,
  );
  const eventsOf = one('SELECT events FROM mails WHERE id = ?', orNull(json<number[]>()));
  const setDigest = upsert('digests', ['paper', 'cadence'], ['hour', 'time_zone', 'due_at', 'day', 'until', 'after']);

  return {
    instant: (paper, after, limit) => instant(paper, 'instant', after, limit),
    ofDigest: (paper, cadence, after, limit) => (cadence === 'daily' ? daily : instant)(paper, cadence, after, limit),
    isRepeat(event) {
      const piece = 'story' in event ? event.story.id : null;
      const day = event.type === 'cast.published' ? event.cast.day : null;
      return hasAlerted(event.paper, event.type, piece, day, event.n);
    },
    events: all(`${EVENTS} WHERE n > ?2 AND n <= ?3 AND paper = ?1 ORDER BY n`, EVENT, eventOf),
    eventsAt: (numbers) => eventsAt(JSON.stringify(numbers)),
    queue: (mail) => queue({ ...mail, state: 'due' }) === 1,
    alertedInstantly: (subscriber, matters) => alertedInstantly(subscriber, JSON.stringify(matters)),
    eventsOf: (mail) => eventsOf(mail) ?? [],
    markDigested: run('UPDATE subscribers SET through = ?2, owed = 0 WHERE id = ?1'),
    digest: one(
      'SELECT hour, time_zone, due_at, day, until, after FROM digests WHERE paper = ? AND cadence = ?',
      { hour: integer, time_zone: text, due_at: integer, day: orNull(text), until: orNull(integer), after: text },
      ({ day, until, ...rest }) => ({
        ...rest,
        under_way: day === null || until === null ? null : { day, until },
      }),
    ),
    setDigest: (paper, cadence, { under_way, ...digest }) =>
      void setDigest({ paper, cadence, ...digest, day: under_way?.day ?? null, until: under_way?.until ?? null }),
    forget: run('DELETE FROM mails WHERE settled_at <= ?'),
  };
}
