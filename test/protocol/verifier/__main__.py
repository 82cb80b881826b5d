"""A verifier written from docs/protocol.md alone. It shares no code with Broadsheet, and needs only Python's library.

    python3 verifier file FILE KEYS [POLICY]   verifies a proof, a fact or a document of the domain records with a key document
    python3 verifier vectors FOLDER            checks every vector below test/vectors and prints the verdicts that differ
    python3 verifier page PAGE                 checks that the examples of docs/protocol.md fit together

The numbers in its files are those of the protocol's sections.
"""

import sys
from pathlib import Path

from log import Policy, require_logged
from notes import document_keys
from observations import verify_document
from page import check_page
from pieces import verify_fact, verify_proof
from text import Fault, parse_json
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
        receipt = document['fact']['receipt'] if 'versions' in document else document['receipt']
        require_logged(document['log'], receipt, Policy(Path(policy).read_text('utf-8')))
    return [], '1 document'


if __name__ == '__main__':
    mode, *places = sys.argv[1:]
    try:
        faults, what = {'file': check_file, 'vectors': check_vectors, 'page': check_page}[mode](*places)
    except Fault as fault:
        faults, what = [f'{places[0]}: {fault}'], mode
    for line in faults:
        print(line)
    print(f'{what}, {len(faults)} faults')
    sys.exit(1 if faults else 0)
