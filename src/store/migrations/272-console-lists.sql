-- The console's lists of pieces in any state, and what happened to one piece.
CREATE INDEX pieces_by_state ON pieces (paper, state, id);
CREATE INDEX pieces_by_paper ON pieces (paper, id);
CREATE INDEX airings_by_piece ON airings (piece, n);
CREATE INDEX withdrawals_by_piece ON withdrawals (piece, n);
