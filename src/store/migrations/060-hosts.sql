-- The hosts at which papers may be served under an address of their own: given by the operator, or proven by a file
-- or a DNS record. n grows with each of them, and is not used again.
CREATE TABLE paper_hosts (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  paper TEXT NOT NULL,
  -- In lower case, with its port where that is neither 80 nor 443.
  host TEXT NOT NULL,
  how TEXT NOT NULL CHECK (how IN ('given', 'file', 'txt')),
  at INTEGER NOT NULL,
  UNIQUE (paper, host)
) STRICT;

-- Papers keep the hosts that their addresses had.
INSERT INTO paper_hosts (paper, host, how, at)
SELECT slug, lower(substr(rest, 1, instr(rest || '/', '/') - 1)), 'given', changed_at
FROM (
  SELECT slug, changed_at, substr(url, instr(url, '://') + 3) AS rest
  FROM (SELECT slug, changed_at, json_extract(body, '$.url') AS url FROM papers)
  WHERE url IS NOT NULL
);
