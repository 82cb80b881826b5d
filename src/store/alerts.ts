import type { AlertTable } from '../readers/alert-table.ts';
import { CADENCES } from '../readers/subscriber.ts';
import { flag, integer, json, oneOf, orNull, text } from './columns.ts';
import { EVENT, EVENT_COLUMNS, eventOf } from './events.ts';
import type { Db } from './open.ts';
import { sql } from './sql.ts';

const READER = {
  id: text,
  cadence: oneOf(...CADENCES),
  sections: orNull(json<string[]>()),
  cast: flag,
  confirmed_at: integer,
  through: orNull(integer),
};
const READER_COLUMNS = 's.id, s.cadence, s.sections, s."cast", s.confirmed_at, s.through';
const SOUND = `s.confirmed_at IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM suppressions x WHERE x.paper = s.paper AND x.reader = s.reader)`;

/** The readers who receive events by mail. */
export function alertTable(db: Db): AlertTable {
  const { run, one, all } = sql(db);
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
  const wasTold = one(
    `SELECT 1 FROM events WHERE paper = ?1 AND type = ?2 AND piece IS ?3 AND day IS ?4 AND n < ?5 LIMIT 1`,
    integer,
  );
  const between = all(
    `SELECT ${EVENT_COLUMNS} FROM events WHERE n > ? AND n <= ? AND paper = ? ORDER BY n`,
    EVENT,
    eventOf,
  );
  const eventsAt = all(
    `SELECT ${EVENT_COLUMNS} FROM events WHERE n IN (SELECT value FROM json_each(?)) ORDER BY n`,
    EVENT,
    eventOf,
  );
  const queue = run(
    `INSERT INTO mails (id, paper, subscriber, kind, about, due_at, state, events) VALUES (?, ?, ?, ?, ?, ?, 'due', ?)
     ON CONFLICT DO NOTHING`,
  );
  const toldAtOnce = all(
    `SELECT about FROM mails
     WHERE subscriber = ? AND kind = 'instant' AND about IN (SELECT value FROM json_each(?))`,
    text,
  );
  const eventsOf = one('SELECT events FROM mails WHERE id = ?', orNull(json<number[]>()));
  const setDigest = run(
    `INSERT INTO digests (paper, cadence, hour, time_zone, due_at, day, until, after) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET hour = excluded.hour, time_zone = excluded.time_zone, due_at = excluded.due_at,
       day = excluded.day, until = excluded.until, after = excluded.after`,
  );

  return {
    instant: (paper, after, limit) => instant(paper, 'instant', after, limit),
    ofDigest: (paper, cadence, after, limit) => (cadence === 'daily' ? daily : instant)(paper, cadence, after, limit),
    isRepeat(event) {
      const [piece, day] = event.type === 'cast.published' ? [null, event.cast.day] : [event.story.id, null];
      return wasTold(event.paper, event.type, piece, day, event.n) !== null;
    },
    events: (paper, after, until) => between(after, until, paper),
    eventsAt: (places) => eventsAt(JSON.stringify(places)),
    queue: ({ id, paper, subscriber, kind, about, due_at, events }) =>
      queue(id, paper, subscriber, kind, about, due_at, JSON.stringify(events)) === 1,
    alertedInstantly: (subscriber, matters) => toldAtOnce(subscriber, JSON.stringify(matters)),
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
    setDigest(paper, cadence, { hour, time_zone, due_at, under_way, after }) {
      const { day, until } = under_way ?? { day: null, until: null };
      setDigest(paper, cadence, hour, time_zone, due_at, day, until, after);
    },
    forget: run('DELETE FROM mails WHERE settled_at <= ?'),
  };
}
