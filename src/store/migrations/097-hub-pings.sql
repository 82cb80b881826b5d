-- Feeds that changed, of which the WebSub hub is still to be told. A row stays until the hub has accepted it.
CREATE TABLE hub_pings (
  paper TEXT NOT NULL,
  -- Under the paper's root.
  path TEXT NOT NULL,
  -- Grows with each press that changes the feed: a ping that was sent for an older change does not remove the row.
  change INTEGER NOT NULL,
  -- NULL until the press that changed the feed has ended.
  due_at INTEGER,
  tries INTEGER NOT NULL,
  lease INTEGER NOT NULL,
  PRIMARY KEY (paper, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX hub_pings_due ON hub_pings (due_at) WHERE due_at IS NOT NULL;
