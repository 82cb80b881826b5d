-- The node of the domain records that this database signs for (RECORDS_NODE), and its ranges, the newest last.

CREATE TABLE records_nodes (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  "range" TEXT NOT NULL,
  since INTEGER NOT NULL,
  -- Whether the hostnames outside the range were paused.
  is_settled INTEGER NOT NULL DEFAULT 0
) STRICT;
