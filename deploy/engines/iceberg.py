"""The archive as Iceberg tables of its own objects, which are not copied: for engines that read Iceberg and not folders.

    pip install 'pyiceberg[sql-sqlite,pyarrow]'
    python3 iceberg.py ARCHIVE WAREHOUSE     # such as /srv/archive /srv/iceberg, or s3://bucket/records s3://bucket/iceberg

Run it after each closed day, and after each erasure. It makes the tables of namespace `archive` anew, puts each in the
place of the one before, and deletes that one's metadata, which has the first and the last name of every object. It never
writes or deletes anything in ARCHIVE. ICEBERG_CATALOG is the catalog (default: SQLite in the file WAREHOUSE/catalog.db, if
that is a folder). For a bucket, the AWS variables of the archive apply.
"""

import os
import re
import sys
import uuid
from urllib.parse import unquote, urlsplit

from pyarrow import fs, parquet
from pyiceberg.catalog.sql import SqlCatalog
from sqlalchemy.engine import URL

NAMESPACE = 'archive'
ROOTS = ('observations', 'observations_open', 'deltas', 'sightings', 'sightings_by_value')
# A month and the first digit of a bucket, in the key of a closed month or of an open day.
BUCKET = re.compile(r'(?:month=|day=)(\d{4}-\d\d)[^/]*/bucket=([0-9a-f])')


def objects(files, root):
    found = files.get_file_info(fs.FileSelector(root, recursive=True, allow_not_found=True))
    return sorted(one.path for one in found if one.path.endswith('.parquet'))


def tables(files, root):
    """The objects of each table: of the days of a month that was closed, none."""
    found = {name: objects(files, f'{root}/{name}') for name in ROOTS}
    closed = {BUCKET.search(path).groups() for path in found['observations']}
    days = [path for path in found.pop('observations_open') if BUCKET.search(path).groups() not in closed]
    found['observations'] += days
    return found


def opened(place):
    """The file system of a place, its path there, and its address in metadata, which has spaces and % as they are."""
    if '://' in place and not place.startswith('file://'):
        return *fs.FileSystem.from_uri(place.rstrip('/')), place.rstrip('/')
    path = os.path.abspath(unquote(urlsplit(place).path) if '://' in place else place)
    if '#' in path or '?' in path:
        sys.exit(f'{path}: addresses of Iceberg have no # and no ? in a path; name another folder')
    return fs.LocalFileSystem(), path, f'file://{path}'


def main(archive, warehouse):
    files, root, archive = opened(archive)
    store, base, warehouse = opened(warehouse)
    store.create_dir(base)
    scheme = archive.split('://')[0]
    sqlite = URL.create('sqlite', database=f'{base}/catalog.db').render_as_string()
    uri = os.environ.get('ICEBERG_CATALOG') or sqlite
    catalog = SqlCatalog(NAMESPACE, uri=uri, warehouse=warehouse)
    catalog.create_namespace_if_not_exists(NAMESPACE)
    # A folder of metadata for each run. Earlier ones are deleted once no table is in them.
    run = f'run-{uuid.uuid4().hex}'
    for name, paths in tables(files, root).items():
        if not paths:
            continue
        made = (NAMESPACE, f'{name}_{run[4:12]}')
        schema = parquet.read_schema(paths[0], filesystem=files)
        table = catalog.create_table(made, schema=schema, location=f'{warehouse}/{run}/{name}')
        table.add_files([f'{scheme}://{path}' for path in paths], check_duplicate_files=False)
        if catalog.table_exists((NAMESPACE, name)):
            catalog.drop_table((NAMESPACE, name))
        catalog.rename_table(made, (NAMESPACE, name))
        print(f'{name}: {len(paths)} objects, {table.current_snapshot().summary["total-records"]} rows')
    for old in store.get_file_info(fs.FileSelector(base)):
        if old.base_name.startswith('run-') and old.base_name != run:
            store.delete_dir(old.path)
    # Left by a run that ended early.
    for _, name in catalog.list_tables(NAMESPACE):
        if name not in ROOTS:
            catalog.drop_table((NAMESPACE, name))


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit('give the archive and a folder or prefix for the metadata: iceberg.py ARCHIVE WAREHOUSE')
    main(sys.argv[1], sys.argv[2])
