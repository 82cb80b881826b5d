-- The press cache itself says which code made it (src/store/press-packs.ts).
ALTER TABLE presses DROP COLUMN prose_code;
