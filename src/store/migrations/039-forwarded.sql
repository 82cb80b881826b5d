-- Requests that came from this machine with a header of a proxy that no setting names, by the service that got them: when the
-- last was noted (ms), and from which address. A service that starts forgets its row, for its settings may have changed.
CREATE TABLE forwarded (
  service TEXT PRIMARY KEY CHECK (service IN ('desk', 'records')),
  address TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
