-- Hostnames that an account has put under watch, in groups of its own.
CREATE TABLE watch_groups (
  id TEXT PRIMARY KEY,
  account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  UNIQUE (account, name)
) STRICT;

CREATE TABLE watch_group_hosts (
  watch_group TEXT NOT NULL REFERENCES watch_groups (id) ON DELETE CASCADE,
  hostname TEXT NOT NULL,
  added_at INTEGER NOT NULL,
  PRIMARY KEY (watch_group, hostname)
) STRICT, WITHOUT ROWID;
CREATE INDEX watch_group_hosts_by_name ON watch_group_hosts (hostname, watch_group);
