-- What keeps an army of free accounts from being worth its while.

-- One mailbox has one free allowance, whatever addresses it takes mail at: a hash of it, filled in by the program.
ALTER TABLE accounts ADD COLUMN mailbox TEXT;
CREATE INDEX accounts_without_mailbox ON accounts (id) WHERE mailbox IS NULL;
-- Included requests of all its accounts of the daily plan by UTC day; they outlive an account that is deleted and made again.
CREATE TABLE mailbox_days (
  mailbox TEXT NOT NULL,
  day TEXT NOT NULL,
  included INTEGER NOT NULL CHECK (included >= 0),
  PRIMARY KEY (mailbox, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX mailbox_days_by_day ON mailbox_days (day);

-- Accounts that were made from a network by UTC day.
CREATE TABLE sign_ups (
  network TEXT NOT NULL,
  day TEXT NOT NULL,
  made INTEGER NOT NULL,
  PRIMARY KEY (network, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_ups_by_day ON sign_ups (day);

-- Streams that are open in any process; one whose process died ends by itself. Times in ms.
CREATE TABLE open_streams (
  id TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  lasts_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX open_streams_of ON open_streams (holder, lasts_until);
