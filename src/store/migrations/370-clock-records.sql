-- Every signature asks for the corrections of the clock: without an index it read all records, among them every version of
-- every fact.
CREATE INDEX records_of_clock ON records (n) WHERE kind = 'clock';
