-- Pieces from archives: where a piece comes from (null: its own desk), and its earlier addresses, a JSON list of paths.

ALTER TABLE generations ADD COLUMN provenance TEXT CHECK (provenance IN ('archive'));
ALTER TABLE generations ADD COLUMN aliases TEXT NOT NULL DEFAULT '[]';

-- The addresses that lead to a piece, by its newest revision.
CREATE TABLE piece_aliases (
  paper TEXT NOT NULL,
  alias TEXT NOT NULL,
  piece TEXT NOT NULL REFERENCES pieces (id),
  PRIMARY KEY (paper, alias)
) STRICT, WITHOUT ROWID;
CREATE INDEX piece_aliases_by_piece ON piece_aliases (piece);
