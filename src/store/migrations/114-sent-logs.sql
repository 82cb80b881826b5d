-- What a killed publication of a log may have left at its target.

-- The sizes of the trees of which tiles were sent since the last publication that was finished, a JSON list.
ALTER TABLE publications ADD COLUMN sent_sizes TEXT NOT NULL DEFAULT '[]';
