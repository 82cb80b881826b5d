-- What follows from the ledger, kept at hand so that lists are index reads.

CREATE TABLE papers (
  slug TEXT PRIMARY KEY,
  body TEXT NOT NULL,
  edition INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  seq INTEGER NOT NULL
) STRICT;

CREATE TABLE pieces (
  id TEXT PRIMARY KEY,
  paper TEXT NOT NULL,
  slug TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('draft', 'scheduled', 'on_air', 'withdrawn')),
  revision INTEGER NOT NULL,
  generation INTEGER NOT NULL REFERENCES generations (n),
  category TEXT NOT NULL,
  persona TEXT NOT NULL,
  -- First time on air.
  published_at INTEGER,
  updated_at INTEGER,
  scheduled_at INTEGER,
  withdrawn_at INTEGER,
  reason TEXT,
  UNIQUE (paper, slug)
) STRICT;
CREATE INDEX pieces_on_air ON pieces (paper, published_at, id) WHERE state = 'on_air';
CREATE INDEX pieces_by_section ON pieces (paper, category, published_at, id) WHERE state = 'on_air';
CREATE INDEX pieces_by_persona ON pieces (paper, persona, published_at, id) WHERE state = 'on_air';
CREATE INDEX pieces_scheduled ON pieces (scheduled_at) WHERE state = 'scheduled';

-- How many pieces on air a section, a day or a month has.
CREATE TABLE tallies (
  paper TEXT NOT NULL,
  what TEXT NOT NULL CHECK (what IN ('section', 'day', 'month')),
  name TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (paper, what, name)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER pieces_leave AFTER UPDATE OF state, category, published_at ON pieces WHEN old.state = 'on_air' BEGIN
  UPDATE tallies SET count = count - 1 WHERE paper = old.paper AND what = 'section' AND name = old.category;
  UPDATE tallies SET count = count - 1
    WHERE paper = old.paper AND what = 'day' AND name = date(old.published_at / 1000, 'unixepoch');
  UPDATE tallies SET count = count - 1
    WHERE paper = old.paper AND what = 'month' AND name = strftime('%Y-%m', old.published_at / 1000, 'unixepoch');
END;
CREATE TRIGGER pieces_arrive AFTER UPDATE OF state, category, published_at ON pieces WHEN new.state = 'on_air' BEGIN
  INSERT INTO tallies VALUES (new.paper, 'section', new.category, 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
  INSERT INTO tallies VALUES (new.paper, 'day', date(new.published_at / 1000, 'unixepoch'), 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
  INSERT INTO tallies VALUES (new.paper, 'month', strftime('%Y-%m', new.published_at / 1000, 'unixepoch'), 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
END;
