-- FTS5's own settings of the search index: 'merge' merges any two segments of one size, and the words of one transaction
-- are buffered up to 16 MB, so that a transaction of many pieces writes few segments.

INSERT INTO search (search, rank) VALUES ('usermerge', 2);
INSERT INTO search (search, rank) VALUES ('hashsize', 16777216);
