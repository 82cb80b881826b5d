-- The people who wrote a piece: a JSON list of {name, url?}. Pieces of earlier versions keep `written_by`, one line.

ALTER TABLE generations ADD COLUMN authors TEXT NOT NULL DEFAULT '[]';
