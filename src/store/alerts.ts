import type { Reader } from '../readers/alert.ts';
import type { AlertTable } from '../readers/alert-table.ts';
import type { DigestRound } from '../readers/digest.ts';
import { keptEvent } from './events.ts';
import type { Db } from './open.ts';

interface ReaderRow {
  id: string;
  cadence: Reader['cadence'];
  sections: string | null;
  cast: number;
  confirmed_at: number;
  through: number | null;
}

interface RoundRow {
  hour: number;
  time_zone: string;
  due_at: number;
  day: string | null;
  until: number | null;
  after: string;
}

const READER = 's.id, s.cadence, s.sections, s."cast", s.confirmed_at, s.through';
const SOUND = `s.confirmed_at IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM suppressions x WHERE x.paper = s.paper AND x.reader = s.reader)`;
const EVENT = 'n, id, paper, type, at, told';

/** Who is told of what by mail. */
export function alertTable(db: Db): AlertTable {
  const ofCadence = `SELECT ${READER} FROM subscribers s
    WHERE s.paper = ?1 AND s.cadence = ?2 AND s.id > ?3 AND ${SOUND} ORDER BY s.id LIMIT ?4`;
  const instant = db.prepare(ofCadence);
  // Each half runs down an index of its own and stops at the limit.
  const daily = db.prepare(
    `SELECT * FROM (${ofCadence}) UNION ALL
     SELECT * FROM (SELECT ${READER} FROM subscribers s INDEXED BY subscribers_owed
       WHERE s.owed = 1 AND s.cadence = 'instant' AND s.paper = ?1 AND s.id > ?3 AND ${SOUND} ORDER BY s.id LIMIT ?4)
     ORDER BY id LIMIT ?4`,
  );
  const wasTold = db.prepare(
    `SELECT 1 FROM events WHERE paper = ?1 AND type = ?2 AND piece IS ?3 AND day IS ?4 AND n < ?5 LIMIT 1`,
  );
  const between = db.prepare(`SELECT ${EVENT} FROM events WHERE n > ? AND n <= ? AND paper = ? ORDER BY n`);
  const at = db.prepare(`SELECT ${EVENT} FROM events WHERE n IN (SELECT value FROM json_each(?)) ORDER BY n`);
  const queue = db.prepare(
    `INSERT INTO mails (id, paper, subscriber, kind, about, due_at, state, events) VALUES (?, ?, ?, ?, ?, ?, 'due', ?)
     ON CONFLICT DO NOTHING`,
  );
  const toldAtOnce = db.prepare(
    `SELECT about FROM mails
     WHERE subscriber = ? AND kind = 'instant' AND about IN (SELECT value FROM json_each(?))`,
  );
  const eventsOf = db.prepare('SELECT events FROM mails WHERE id = ?');
  const through = db.prepare('UPDATE subscribers SET through = ?2, owed = 0 WHERE id = ?1');
  const digest = db.prepare(
    'SELECT hour, time_zone, due_at, day, until, after FROM digests WHERE paper = ? AND cadence = ?',
  );
  const setDigest = db.prepare(
    `INSERT INTO digests (paper, cadence, hour, time_zone, due_at, day, until, after) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET hour = excluded.hour, time_zone = excluded.time_zone, due_at = excluded.due_at,
       day = excluded.day, until = excluded.until, after = excluded.after`,
  );
  const forget = db.prepare('DELETE FROM mails WHERE settled_at <= ?');

  const readersFrom = (rows: unknown[]): Reader[] =>
    (rows as ReaderRow[]).map(({ sections, cast, ...row }) => ({
      ...row,
      sections: sections === null ? null : (JSON.parse(sections) as string[]),
      cast: cast === 1,
    }));

  return {
    instant: (paper, after, limit) => readersFrom(instant.all(paper, 'instant', after, limit)),
    ofDigest: (paper, cadence, after, limit) =>
      readersFrom((cadence === 'daily' ? daily : instant).all(paper, cadence, after, limit)),
    wasTold(event) {
      const [piece, day] = event.type === 'cast.published' ? [null, event.cast.day] : [event.story.id, null];
      return wasTold.all(event.paper, event.type, piece, day, event.n).length > 0;
    },
    events: (paper, after, until) => between.all(after, until, paper).map(keptEvent),
    eventsAt: (places) => at.all(JSON.stringify(places)).map(keptEvent),
    queue: ({ id, paper, subscriber, kind, about, due_at, events }) =>
      queue.run(id, paper, subscriber, kind, about, due_at, JSON.stringify(events)).changes === 1,
    toldAtOnce: (subscriber, matters) =>
      (toldAtOnce.all(subscriber, JSON.stringify(matters)) as { about: string }[]).map(({ about }) => about),
    eventsOf(mail) {
      const [row] = eventsOf.all(mail) as { events: string | null }[];
      return row?.events == null ? [] : (JSON.parse(row.events) as number[]);
    },
    through(subscriber, n) {
      through.run(subscriber, n);
    },
    digest(paper, cadence) {
      const [row] = digest.all(paper, cadence) as RoundRow[];
      if (row === undefined) return null;
      const { day, until, ...rest } = row;
      return { ...rest, under_way: day === null || until === null ? null : { day, until } } satisfies DigestRound;
    },
    setDigest(paper, cadence, { hour, time_zone, due_at, under_way, after }) {
      const { day, until } = under_way ?? { day: null, until: null };
      setDigest.run(paper, cadence, hour, time_zone, due_at, day, until, after);
    },
    forget(until) {
      forget.run(until);
    },
  };
}
