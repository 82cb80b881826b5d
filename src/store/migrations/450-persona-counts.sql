-- What stands on a persona's record: its pieces on air, the corrections of them, and the pieces that were withdrawn.
CREATE TABLE persona_counts (
  paper TEXT NOT NULL,
  persona TEXT NOT NULL,
  pieces INTEGER NOT NULL,
  corrections INTEGER NOT NULL,
  withdrawn INTEGER NOT NULL,
  PRIMARY KEY (paper, persona)
) STRICT, WITHOUT ROWID;

-- What each piece adds to it.
CREATE VIEW persona_shares AS
  SELECT id, paper, persona, state = 'on_air' AS pieces,
    iif(state = 'on_air', (SELECT count(*) FROM generations g
      WHERE g.piece = p.id AND g.revision <= p.revision AND g.correction IS NOT NULL), 0) AS corrections,
    state <> 'on_air' AND published_at IS NOT NULL AS withdrawn
  FROM pieces p;

INSERT INTO persona_counts
  SELECT paper, persona, sum(pieces), sum(corrections), sum(withdrawn) FROM persona_shares GROUP BY paper, persona;

CREATE TRIGGER persona_leaves BEFORE UPDATE OF state, persona, revision, published_at ON pieces BEGIN
  UPDATE persona_counts SET pieces = persona_counts.pieces - s.pieces,
      corrections = persona_counts.corrections - s.corrections, withdrawn = persona_counts.withdrawn - s.withdrawn
    FROM persona_shares s
    WHERE s.id = old.id AND persona_counts.paper = s.paper AND persona_counts.persona = s.persona;
END;
CREATE TRIGGER persona_arrives AFTER UPDATE OF state, persona, revision, published_at ON pieces BEGIN
  INSERT INTO persona_counts SELECT paper, persona, pieces, corrections, withdrawn FROM persona_shares WHERE id = new.id
    ON CONFLICT DO UPDATE SET pieces = pieces + excluded.pieces, corrections = corrections + excluded.corrections,
      withdrawn = withdrawn + excluded.withdrawn;
END;
CREATE TRIGGER persona_is_left BEFORE DELETE ON pieces BEGIN
  UPDATE persona_counts SET pieces = persona_counts.pieces - s.pieces,
      corrections = persona_counts.corrections - s.corrections, withdrawn = persona_counts.withdrawn - s.withdrawn
    FROM persona_shares s
    WHERE s.id = old.id AND persona_counts.paper = s.paper AND persona_counts.persona = s.persona;
END;
