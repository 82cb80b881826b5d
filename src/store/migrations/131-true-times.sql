-- A correction of the clock lowers the times by which observations and changes are found, and touches nothing signed.

-- The time in the receipt, where it is wrong; `observed_at` is then the true one.
ALTER TABLE observations ADD COLUMN signed_at INTEGER;
DROP TRIGGER observations_fixed;
CREATE TRIGGER observations_fixed BEFORE UPDATE ON observations
  WHEN NEW.seq IS NOT OLD.seq OR NEW.host IS NOT OLD.host OR NEW.body IS NOT OLD.body
    OR NEW.circumstances IS NOT OLD.circumstances OR NEW.seed IS NOT OLD.seed OR NEW.receipt IS NOT OLD.receipt
    OR NEW.receipt_hash IS NOT OLD.receipt_hash OR NEW.signed_at IS NOT coalesce(OLD.signed_at, OLD.observed_at)
    OR NEW.observed_at >= OLD.observed_at
    OR NOT EXISTS (SELECT 1 FROM records WHERE paper = '' AND kind = 'clock' AND name = 'records')
  BEGIN SELECT RAISE(ABORT, 'observations is append-only'); END;
DROP TRIGGER deltas_fixed;
CREATE TRIGGER deltas_fixed BEFORE UPDATE ON deltas
  WHEN NEW.seq IS NOT OLD.seq OR NEW.host IS NOT OLD.host OR NEW.signal IS NOT OLD.signal OR NEW.kind IS NOT OLD.kind
    OR NEW."before" IS NOT OLD."before" OR NEW."after" IS NOT OLD."after" OR NEW.observation IS NOT OLD.observation
    OR NEW.at >= OLD.at
    OR NOT EXISTS (SELECT 1 FROM records WHERE paper = '' AND kind = 'clock' AND name = 'records')
  BEGIN SELECT RAISE(ABORT, 'deltas is append-only'); END;
