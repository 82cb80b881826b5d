-- Who wrote a piece, when people did, and the tags by which readers browse.

ALTER TABLE generations ADD COLUMN written_by TEXT;
-- A JSON list of names.
ALTER TABLE generations ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';

-- The tags of pieces on air. `tag` is a slug, `name` the piece's own spelling.
CREATE TABLE piece_tags (
  paper TEXT NOT NULL,
  tag TEXT NOT NULL,
  published_at INTEGER NOT NULL,
  piece TEXT NOT NULL REFERENCES pieces (id),
  name TEXT NOT NULL,
  PRIMARY KEY (paper, tag, published_at, piece)
) STRICT, WITHOUT ROWID;
CREATE INDEX piece_tags_by_piece ON piece_tags (piece);

-- How many pieces on air a tag has.
CREATE TABLE tag_counts (
  paper TEXT NOT NULL,
  tag TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (paper, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX tag_counts_by_count ON tag_counts (paper, count, tag);

CREATE TRIGGER piece_tags_arrive AFTER INSERT ON piece_tags BEGIN
  INSERT INTO tag_counts VALUES (new.paper, new.tag, 1) ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER piece_tags_leave AFTER DELETE ON piece_tags BEGIN
  UPDATE tag_counts SET count = count - 1 WHERE paper = old.paper AND tag = old.tag;
  DELETE FROM tag_counts WHERE paper = old.paper AND tag = old.tag AND count = 0;
END;
