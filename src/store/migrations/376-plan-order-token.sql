-- The token of an order, in lower case; null in orders from before. Another token says nothing of its payment.
ALTER TABLE plan_orders ADD COLUMN asset TEXT;
