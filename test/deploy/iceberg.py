"""Reads the Iceberg tables of `deploy/engines/iceberg.py` by their catalog alone.

Prints counts and sums, all rows, or all that their metadata says of the objects, with the first and last values in them.
"""

import json
import sys

from pyiceberg.catalog.sql import SqlCatalog
from sqlalchemy.engine import URL

mode, catalog = sys.argv[1:]
tables = SqlCatalog('archive', uri=URL.create('sqlite', database=catalog).render_as_string())
found = {}
for _, name in sorted(tables.list_tables('archive')):
    table = tables.load_table(('archive', name))
    if mode == 'metadata':
        found[name] = [repr(row) for row in table.inspect.files().to_pylist()]
        continue
    rows = table.scan().to_arrow().to_pylist()
    if mode == 'rows':
        found[name] = sorted(json.dumps(row, default=repr) for row in rows)
    else:
        number = 'count' if name.startswith('sightings') else 'seq'
        found[name] = [len(rows), sum(row[number] for row in rows)]
json.dump(found, sys.stdout)
