-- Which version of the code rendered the prose on all pages of a paper's tree; empty while pages of two versions may
-- stand side by side.
ALTER TABLE presses ADD COLUMN prose_code TEXT NOT NULL DEFAULT '';
