-- The search index holds the beginnings of words as tokens of their own, and what phrases are looked for in. The next
-- opening of the database fills it.

DROP TABLE search;
CREATE VIRTUAL TABLE search USING fts5 (
  tokens, content = '', contentless_delete = 1, tokenize = 'ascii', detail = 'none'
);

-- The words of a piece, in their order.
CREATE TABLE search_texts (
  place INTEGER PRIMARY KEY,
  words TEXT NOT NULL
) STRICT;

-- Which words stand side by side in it: a Bloom filter, much shorter than the words.
CREATE TABLE search_filters (
  place INTEGER PRIMARY KEY,
  filter BLOB NOT NULL
) STRICT;

DELETE FROM searched;
UPDATE search_state SET folding = 0, filled = 0;
