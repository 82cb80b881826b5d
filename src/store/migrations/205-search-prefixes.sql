-- Prefix indexes of one to three letters instead of eight: the search index is made anew.

-- A longer beginning of a word is a short range of words.
DROP TABLE search;
CREATE VIRTUAL TABLE search USING fts5 (
  words, content = '', contentless_delete = 1, tokenize = 'ascii', prefix = '1 2 3'
);
INSERT INTO search (search, rank) VALUES ('usermerge', 2);
INSERT INTO search (search, rank) VALUES ('hashsize', 16777216);
UPDATE search_state SET folding = 0;
