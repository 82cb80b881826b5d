-- Finds what changed since a reader last looked, without reading every paper.

-- Higher than that of every other paper when the paper, its front, its pieces or its hosts changed last.
ALTER TABLE papers ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
CREATE INDEX papers_by_version ON papers (version);

CREATE TRIGGER paper_hosts_added AFTER INSERT ON paper_hosts BEGIN
  UPDATE papers SET version = (SELECT max(version) + 1 FROM papers) WHERE slug = NEW.paper;
END;
CREATE TRIGGER paper_hosts_removed AFTER DELETE ON paper_hosts BEGIN
  UPDATE papers SET version = (SELECT max(version) + 1 FROM papers) WHERE slug = OLD.paper;
END;
