"""The vectors of test/vectors: whether this verifier comes to the verdict that each claims."""

import json
import re
from pathlib import Path

from chains import require_chain, signed_receipt
from log import Checkpoint, Policy, parse_leaf, parse_tlog_proof, read_bundle, tile_path
from notes import Key, Note, archive_of, dump_of, evidence_of, fact_of, receipt_of, review_of
from observations import observation_of, verify_document, verify_fields
from pieces import require_generations, verify_fact, verify_proof
from text import Fault, canonical, from_base64, hash_text, milliseconds, need, parse_json, utf8
from tree import climb, leaf_hash, require_consistent


def vector_keys(vector):
    return [
        Key(key['vkey'], (1,), milliseconds(key['nbf']), key['retired_at'] and milliseconds(key['retired_at']))
        for key in vector.get('keys', [])
    ]


def check_hash(vector):
    text = canonical(vector['value'])
    need(vector.get('canonical', text) == text and hash_text(text) == vector['content_hash'], 'another hash')


def check_note(vector):
    need(Note(vector['note']).is_signed_by(Key(vector['vkey'])), 'the signature')


def check_proof(vector):
    trusted = vector_keys(vector) if 'keys' in vector else [Key(one) for one in vector.get('trusted', [])] or None
    verify_proof(vector['proof'], trusted)


def check_fact(vector):
    if 'text' in vector:
        fact_of(vector['text'])
    else:
        verify_fact(vector['document'], vector_keys(vector) if 'keys' in vector else None)


def check_observation(vector):
    keys = vector_keys(vector)
    if 'record' in vector:
        verify_fields(vector['record'], keys)
    elif 'preview' in vector:
        verify_fields(vector['preview'], keys, is_preview=True)
    elif 'chain' in vector:
        receipts = [signed_receipt(one, observation_of, 'observed_at', keys) for one in vector['chain']]
        require_chain(receipts, ('domain',), vector.get('whole', False))
    else:
        observation_of(vector['text'])


def check_log_proof(vector):
    index, path, head = parse_tlog_proof(vector['proof'])
    need(climb(index, head.size, leaf_hash(utf8(vector['entry'])), path) == head.root, 'the root')
    Policy(vector['policy']).require(head)


def check_policy(vector):
    policy = Policy(vector['policy'])
    need(all(policy.is_met(names) for names in vector.get('met', [])), 'a quorum that is met')
    need(not any(policy.is_met(names) for names in vector.get('unmet', [])), 'a quorum that is not met')


def check_cosignature(vector):
    at = Checkpoint(vector['checkpoint']).signed_by(Key(vector['vkey'], (1, 4, 6)))
    need(at is not None and at == (vector.get('time') or 0), 'the time of a cosignature')


def head_of(head):
    return {'size': head['size'], 'root': from_base64(head['root'])}


def check_archive(vector):
    manifest = vector.get('manifest')
    note = Note(vector['note'] if manifest is None else manifest['note'])
    said = archive_of(note.text)
    if manifest is None:
        return
    rest = {name: value for name, value in manifest.items() if name != 'note'}
    need(hash_text(canonical(rest)) == said['manifest'], 'the hash of the manifest')
    need(any(key.kid == said['kid'] and note.is_signed_by(key) for key in vector_keys(vector)), 'the signature')


CHECKS = {
    'archive': check_archive,
    'dump': lambda vector: dump_of(Note(vector['note']).text),
    'hash': check_hash,
    'json': lambda vector: parse_json(vector['text']),
    'note': check_note,
    'receipt': lambda vector: receipt_of(vector['text']),
    'fact': check_fact,
    'evidence': lambda vector: evidence_of(vector['text']),
    'review': lambda vector: review_of(vector['text']),
    'chain': lambda vector: require_generations(vector['generations'], vector_keys(vector)),
    'proof': check_proof,
    'observation': check_observation,
    'document': lambda vector: verify_document(vector['text'], vector_keys(vector)),
    'log/leaf': lambda vector: parse_leaf(vector['entry']),
    'log/checkpoint': lambda vector: Checkpoint(vector['text']),
    'log/cosignature': check_cosignature,
    'log/consistency': lambda vector: require_consistent(
        head_of(vector['old']), head_of(vector['head']), [from_base64(one) for one in vector['proof']]
    ),
    'log/policy': check_policy,
    'log/proof': check_log_proof,
    'log/tile-path': lambda vector: tile_path(vector['path']),
    'log/bundle': lambda vector: read_bundle(
        from_base64(vector['base64']), vector.get('width', len(vector.get('entries', [])))
    ),
}

# What a verifier of the protocol cannot, or need not, tell.
BEYOND = re.compile(
    # Python's library has no ML-DSA-44.
    'log/.*(of-an-ml-dsa-44-witness|a-wrong-cosignature-beside-a-quorum)'
    # Nothing that is signed has other numbers than integers (1.4).
    '|hash/.*numbers-take-their-shortest-form'
    # How somebody copied a text, and the drawing of a badge (5.8).
    '|document/.*(a-badge|a-receipt-in-quotation-marks|crlf)'
)


def verdict(check, vector):
    """Why a vector is rejected; None for one that is accepted."""
    try:
        check(vector)
        return None
    except Fault as fault:
        return str(fault)


def check_vectors(folder):
    differ, count = [], 0
    for kind, check in CHECKS.items():
        top, _, rest = kind.partition('/')
        for validity in ('valid', 'invalid'):
            files = sorted((Path(folder) / top / validity / rest).glob('*.json'))
            need(files, f'there are no vectors {kind} {validity}')
            for file in files:
                if BEYOND.search(f'{kind}/{file.stem}'):
                    continue
                count += 1
                fault = verdict(check, json.loads(file.read_text('utf-8')))
                if (fault is None) != (validity == 'valid'):
                    differ.append(f'{kind}/{validity}/{file.stem}: {fault or "accepted"}')
    return differ, f'{count} vectors'
