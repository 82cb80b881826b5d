-- How many words a piece has, so that lists need not read its prose. NULL until it is counted, in an older database.

ALTER TABLE pieces ADD COLUMN word_count INTEGER;
CREATE INDEX pieces_uncounted ON pieces (id) WHERE word_count IS NULL;
