-- How the requests of a webhook look: the service's own events, or a message of a chat or of PagerDuty.
ALTER TABLE change_alerts ADD COLUMN format TEXT NOT NULL DEFAULT 'standard'
  CHECK (format IN ('standard', 'slack', 'discord', 'teams', 'pagerduty'));
-- The integration key of PagerDuty, in the clear: every event carries it.
ALTER TABLE change_alerts ADD COLUMN routing_key TEXT CHECK ((routing_key IS NOT NULL) = (format = 'pagerduty'));

-- The private feed of a group. Its address is derived from the id, so that a new one ends the old.
CREATE TABLE group_feeds (
  watch_group TEXT PRIMARY KEY REFERENCES watch_groups (id) ON DELETE CASCADE,
  id TEXT NOT NULL UNIQUE,
  -- In ms.
  made_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
