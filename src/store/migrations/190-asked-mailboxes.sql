-- Links that sign in are counted by mailbox, whatever spelling of its address asked for them. Older links have none, and
-- expire within half an hour.
ALTER TABLE sign_ins ADD COLUMN mailbox TEXT;
CREATE INDEX sign_ins_by_mailbox ON sign_ins (mailbox, made_at);

-- Requests to confirm a subscription that were mailed to a mailbox (a hash) and not answered yet; times in ms. Kept for
-- a day.
CREATE TABLE asked_mailboxes (
  mailbox TEXT NOT NULL,
  paper TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX asked_mailboxes_of ON asked_mailboxes (mailbox, at);
CREATE INDEX asked_mailboxes_by_age ON asked_mailboxes (at);
