-- Why a hostname is under watch. Kept: an operator decided what its state is. Otherwise the groups of accounts decide,
-- and it is paused when none has it any more. Who put older hostnames in is not known, so they stay as they are.
ALTER TABLE hostnames ADD COLUMN kept INTEGER NOT NULL DEFAULT 1 CHECK (kept IN (0, 1));
CREATE INDEX hostnames_for_groups ON hostnames (hostname) WHERE kept = 0 AND state = 'watched';

-- Hostnames that are in no group any more and are watched for a while yet, with the account that took them out last.
CREATE TABLE watch_releases (
  hostname TEXT PRIMARY KEY,
  account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  -- In ms.
  released_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX watch_releases_of_account ON watch_releases (account, released_at, hostname);

-- How many hostnames an account put into its groups on a UTC day.
CREATE TABLE watch_additions (
  account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  day TEXT NOT NULL,
  added INTEGER NOT NULL,
  PRIMARY KEY (account, day)
) STRICT, WITHOUT ROWID;
