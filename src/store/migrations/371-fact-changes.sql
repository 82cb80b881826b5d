-- Facts that were corrected and then stood again before facts had these columns: what the newest correction or retraction
-- said, or the version that took a retraction back.
UPDATE facts SET (changed_at, changed_note) = (
  SELECT e.at, r.body ->> '$.note' FROM records r JOIN entries e ON e.n = r.n
  WHERE r.paper = facts.paper AND r.kind = 'fact' AND r.name = facts.claim_key
    AND (r.body ->> '$.status' <> 'standing' OR 'retracted' = (
      SELECT b.body ->> '$.status' FROM records b
      WHERE b.paper = r.paper AND b.kind = 'fact' AND b.name = r.name AND b.n < r.n ORDER BY b.n DESC LIMIT 1))
  ORDER BY r.n DESC LIMIT 1)
WHERE version > 1 AND changed_at IS NULL;
