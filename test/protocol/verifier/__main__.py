"""A verifier written from docs/protocol.md alone. It shares no code with Broadsheet, and needs only Python's library.

    python3 verifier file FILE KEYS [POLICY]   verifies a proof, a fact or a document of the domain records with a key document
    python3 verifier dump PROOF KEYS POLICY PARQUET NDJSON  verifies the files of a public dump, and each line of NDJSON
    python3 verifier vectors FOLDER            checks every vector below test/vectors and prints the verdicts that differ
    python3 verifier page PAGE                 checks that the examples of docs/protocol.md fit together

The numbers in its files are those of the protocol's sections.
"""

import gzip
import hashlib
import sys
from pathlib import Path

from log import Policy, require_logged
from notes import document_keys
from observations import verify_document, verify_dump
from page import check_page
from pieces import verify_fact, verify_proof
from text import Fault, need, parse_json
from vectors import check_vectors


def check_file(file, keys, policy=None):
    text = Path(file).read_text('utf-8')
    trusted, _ = document_keys(parse_json(Path(keys).read_text('utf-8')))
    document = parse_json(text) if text.startswith('{') else {}
    if 'basis' in document:
        verify_proof(document, trusted)
    elif 'versions' in document:
        verify_fact(document, trusted)
    else:
        verify_document(text, trusted)
    if policy is not None:
        receipt = document['fact']['receipt'] if 'versions' in document else document.get('receipt') or document['note']
        require_logged(document['log'], receipt, Policy(Path(policy).read_text('utf-8')))
    return [], '1 document'


def check_dump(proof, keys, policy, parquet, ndjson):
    document = parse_json(Path(proof).read_text('utf-8'))
    trusted, _ = document_keys(parse_json(Path(keys).read_text('utf-8')))
    said = verify_dump(document, trusted)
    require_logged(document['log'], document['note'], Policy(Path(policy).read_text('utf-8')))
    for name, file in (('parquet', parquet), ('ndjson', ndjson)):
        need(said[name] == f'sha256:{hashlib.sha256(Path(file).read_bytes()).hexdigest()}', f'the hash of {name}')
    lines = gzip.decompress(Path(ndjson).read_bytes()).decode('utf-8').split('\n')
    need(lines.pop() == '' and len(lines) == int(said['rows']), 'the number of lines')
    paths = [parse_json(line)['domain'].split('.')[::-1] for line in lines]
    need(['.'.join(path) for path in paths] == sorted('.'.join(path) for path in paths), 'the order of lines')
    for line in lines:
        verify_document(line, trusted)
    return [], f'{len(lines)} previews'


if __name__ == '__main__':
    mode, *places = sys.argv[1:]
    try:
        faults, what = {'file': check_file, 'dump': check_dump, 'vectors': check_vectors, 'page': check_page}[mode](*places)
    except Fault as fault:
        faults, what = [f'{places[0]}: {fault}'], mode
    for line in faults:
        print(line)
    print(f'{what}, {len(faults)} faults')
    sys.exit(1 if faults else 0)
