-- The incident of PagerDuty that a delivery opens or ends. Deliveries of one incident go out in the order of their events.
ALTER TABLE change_deliveries ADD COLUMN incident TEXT;
CREATE INDEX change_deliveries_of_incident ON change_deliveries (alert, incident)
  WHERE incident IS NOT NULL AND state = 'waiting';
