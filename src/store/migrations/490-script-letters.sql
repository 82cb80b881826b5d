-- The letters of a paper's texts that no typeface of papers has, by the language of the text: what its fonts.css is of.
CREATE TABLE script_letters (
  paper TEXT NOT NULL,
  -- The first part of the language tag.
  language TEXT NOT NULL,
  letters TEXT NOT NULL,
  PRIMARY KEY (paper, language)
) STRICT, WITHOUT ROWID;

-- Up to which entry of the ledger a paper's texts were looked through for them.
CREATE TABLE script_scans (paper TEXT PRIMARY KEY, entry INTEGER NOT NULL) STRICT, WITHOUT ROWID;
