-- What a fact's newest correction or retraction said, for the list of corrections: later versions may stand.
ALTER TABLE facts ADD COLUMN changed_at INTEGER;
ALTER TABLE facts ADD COLUMN changed_note TEXT;
UPDATE facts SET changed_at = signed_at, changed_note = note WHERE status <> 'standing';
CREATE INDEX facts_changed ON facts (paper, changed_at) WHERE changed_at IS NOT NULL;
