-- Finds the pieces from archives of a paper without reading its others: every page says whether it has any.

CREATE INDEX generations_archived ON generations (paper, piece) WHERE provenance = 'archive';
