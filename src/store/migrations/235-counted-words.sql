-- Which generation of a piece the words were counted of. A server of an older version may still run and file revisions.

ALTER TABLE pieces ADD COLUMN counted INTEGER;
DROP INDEX pieces_uncounted;
CREATE INDEX pieces_uncounted ON pieces (id) WHERE counted IS NOT generation;
