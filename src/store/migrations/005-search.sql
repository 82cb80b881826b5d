-- Full-text search over what is on air: one index for all papers.

-- Where the index holds a piece. Places grow with the time on air: the minute, then a number within it.
CREATE TABLE searched (
  place INTEGER PRIMARY KEY,
  piece TEXT NOT NULL UNIQUE,
  -- The generation that was indexed.
  generation INTEGER NOT NULL,
  -- 1 when places do not tell the order from here to the end of the minute: an older piece came after a newer one.
  tangled INTEGER NOT NULL
) STRICT;
CREATE INDEX searched_tangled ON searched (place) WHERE tangled = 1;

-- The words are folded before they come here, so that blanks are all that parts them.
-- A query for the beginning of a word is one look-up for as many letters as a prefix index has.
CREATE VIRTUAL TABLE search USING fts5 (
  words, content = '', contentless_delete = 1, tokenize = 'ascii', prefix = '1 2 3 4 5 6 7 8'
);

-- The folding that the index was made with, and whether it holds every piece on air.
CREATE TABLE search_state (
  folding INTEGER NOT NULL,
  filled INTEGER NOT NULL
) STRICT;
INSERT INTO search_state VALUES (0, 0);
