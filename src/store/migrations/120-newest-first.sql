-- Row ids of the search index fall with time, so that the newest piece is found first: the index is made anew.

UPDATE search_state SET folding = 0;
