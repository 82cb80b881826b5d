-- The public address at which each service was last served: what commands beside the server press for.
CREATE TABLE served (
  service TEXT PRIMARY KEY CHECK (service IN ('desk', 'records')),
  origin TEXT NOT NULL
) STRICT;
