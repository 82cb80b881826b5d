-- Readers who ordered alerts by mail. `reader` is the SHA-256 of the paper and
-- the address: what a reader refused is remembered by it, the address forgotten.
CREATE TABLE subscribers (
  id TEXT PRIMARY KEY,
  paper TEXT NOT NULL,
  reader TEXT NOT NULL,
  email TEXT NOT NULL,
  cadence TEXT NOT NULL CHECK (cadence IN ('instant', 'daily', 'weekly')),
  -- A JSON list of section names; null means all, those to come too.
  sections TEXT,
  "cast" INTEGER NOT NULL CHECK ("cast" IN (0, 1)),
  -- Choices that a confirmed reader's later order asks for, as JSON; in force once they are confirmed.
  asked TEXT,
  made_at INTEGER NOT NULL,
  ordered_at INTEGER NOT NULL,
  -- When a mail that asks to confirm was queued last.
  mailed_at INTEGER,
  confirmed_at INTEGER,
  last_sent_at INTEGER,
  webhook TEXT,
  webhook_secret TEXT,
  UNIQUE (paper, reader)
) STRICT;
CREATE INDEX subscribers_by_paper ON subscribers (paper, id);
CREATE INDEX subscribers_unconfirmed ON subscribers (ordered_at) WHERE confirmed_at IS NULL;
CREATE INDEX subscribers_asked ON subscribers (ordered_at) WHERE asked IS NOT NULL;
-- What an alert asks: who is to get it.
CREATE INDEX subscribers_to_tell ON subscribers (paper, cadence, id) WHERE confirmed_at IS NOT NULL;

-- Who is not to be written to, and why. The address is null once it was erased.
CREATE TABLE suppressions (
  paper TEXT NOT NULL,
  reader TEXT NOT NULL,
  email TEXT,
  reason TEXT NOT NULL CHECK (reason IN ('unsubscribed', 'complained', 'bounced', 'by_hand')),
  at INTEGER NOT NULL,
  -- When a mail that asks to confirm was queued last in spite of it.
  mailed_at INTEGER,
  PRIMARY KEY (paper, reader)
) STRICT, WITHOUT ROWID;

-- What mailed links carry, by the SHA-256 of it. A reader's own link has no end.
CREATE TABLE reader_tokens (
  hash TEXT PRIMARY KEY,
  paper TEXT NOT NULL,
  reader TEXT NOT NULL,
  purpose TEXT NOT NULL CHECK (purpose IN ('confirm', 'manage')),
  expires_at INTEGER,
  used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX reader_tokens_by_reader ON reader_tokens (paper, reader);
CREATE INDEX reader_tokens_by_end ON reader_tokens (expires_at) WHERE expires_at IS NOT NULL;

-- Mails to be sent. A claim moves due_at to the end of its lease: a mail whose
-- sender died is due again by itself.
CREATE TABLE mails (
  id TEXT PRIMARY KEY,
  paper TEXT NOT NULL,
  subscriber TEXT NOT NULL REFERENCES subscribers (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('confirm', 'instant', 'daily', 'weekly')),
  -- The piece, the day or the week that it tells of; empty for `confirm`.
  about TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('due', 'sent', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0,
  settled_at INTEGER,
  error TEXT
) STRICT;
-- Each reader is told of each thing once; of orders, one mail waits at a time.
CREATE UNIQUE INDEX mails_once ON mails (subscriber, kind, about) WHERE kind <> 'confirm' OR state = 'due';
CREATE INDEX mails_due ON mails (due_at, id) WHERE state = 'due';
CREATE INDEX mails_by_subscriber ON mails (subscriber);
