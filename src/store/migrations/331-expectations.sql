-- What accounts expect names to answer, by type, and whether they do. Times in ms; rules and values are JSON.
CREATE TABLE expectations (
  account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  hostname TEXT NOT NULL,
  signal TEXT NOT NULL,
  rule TEXT NOT NULL,
  set_at INTEGER NOT NULL,
  -- Unknown until the first known answer.
  state TEXT NOT NULL CHECK (state IN ('unknown', 'expected', 'unexpected')),
  -- Since when, in which observation, and what it answered then.
  since INTEGER,
  observation INTEGER,
  seen TEXT,
  PRIMARY KEY (account, hostname, signal)
) STRICT, WITHOUT ROWID;
CREATE INDEX expectations_of_hostname ON expectations (hostname);

-- Changes that were announced, each for a window of time.
CREATE TABLE planned_changes (
  id TEXT PRIMARY KEY,
  account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  made_at INTEGER NOT NULL,
  from_at INTEGER NOT NULL,
  until_at INTEGER NOT NULL CHECK (until_at > from_at),
  note TEXT NOT NULL
) STRICT;
CREATE INDEX planned_changes_of_account ON planned_changes (account, id);
CREATE INDEX planned_changes_by_end ON planned_changes (until_at);

CREATE TABLE planned_values (
  plan TEXT NOT NULL REFERENCES planned_changes (id) ON DELETE CASCADE,
  hostname TEXT NOT NULL,
  signal TEXT NOT NULL,
  rule TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'done', 'missed')),
  settled_at INTEGER,
  -- The observation that showed the change, or the last one that did not.
  observation INTEGER,
  PRIMARY KEY (plan, hostname, signal)
) STRICT, WITHOUT ROWID;
CREATE INDEX planned_values_waiting ON planned_values (hostname) WHERE state = 'waiting';

-- What accounts are told, once each.
CREATE TABLE expectation_events (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  hostname TEXT NOT NULL,
  signal TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('unexpected', 'as_expected', 'done_as_planned', 'plan_missed')),
  at INTEGER NOT NULL,
  expected TEXT NOT NULL,
  seen TEXT,
  observation INTEGER,
  plan TEXT,
  is_queued INTEGER NOT NULL DEFAULT 0 CHECK (is_queued IN (0, 1))
) STRICT;
CREATE INDEX expectation_events_waiting ON expectation_events (n) WHERE is_queued = 0;
CREATE INDEX expectation_events_of_account ON expectation_events (account, n);
CREATE INDEX expectation_events_by_age ON expectation_events (at);

-- Those that mails tell, as change_notices has the changes.
CREATE TABLE expectation_notices (
  account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  event INTEGER NOT NULL REFERENCES expectation_events (n) ON DELETE CASCADE,
  way TEXT NOT NULL CHECK (way IN ('instant', 'daily')),
  at INTEGER NOT NULL,
  mail TEXT,
  PRIMARY KEY (account, event)
) STRICT, WITHOUT ROWID;
CREATE INDEX expectation_notices_waiting ON expectation_notices (way, account, at) WHERE mail IS NULL;
CREATE INDEX expectation_notices_by_mail ON expectation_notices (mail) WHERE mail IS NOT NULL;
CREATE INDEX expectation_notices_of_event ON expectation_notices (event);
