-- The console's lists of pieces in any state: drafts first, then by their latest time, future or past; and the history of
-- one piece.
CREATE INDEX pieces_by_moment
  ON pieces (paper, coalesce(scheduled_at, withdrawn_at, published_at, 9000000000000000), id);
CREATE INDEX pieces_by_state
  ON pieces (paper, state, coalesce(scheduled_at, withdrawn_at, published_at, 9000000000000000), id);
CREATE INDEX airings_by_piece ON airings (piece, n);
CREATE INDEX withdrawals_by_piece ON withdrawals (piece, n);
