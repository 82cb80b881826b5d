"""Observations and the documents that show them: section 5."""

import re

from chains import require_chain, signed_receipt
from log import require_logged
from notes import Note, clock_of, document_keys, dump_of, fields
from text import HASH, NUMBER, TIME, TOKEN, canonical, milliseconds, need, parse_json, require_types, utf8
from tree import climb, leaf_hash, tree_root


def observation_of(text):
    prev = f'none|{HASH}'
    forms = [('domain', '[a-z0-9.-]{3,253}'), ('seq', NUMBER), ('observed_at', TIME), ('record_root', HASH)]
    forms += [('record_fields', NUMBER), ('prev', prev), ('kid', TOKEN)]
    return fields(text, 'domain-observation/v1', forms)


def disclosed(texts):
    """The disclosed fields by name, from texts in leaf order."""
    found, before = {}, None
    for text in texts:
        need(isinstance(text, str), 'a disclosure')
        parts = parse_json(text)
        need(isinstance(parts, list) and len(parts) == 3 and canonical(parts) == text, 'the form of a disclosure')
        salt, name, value = parts
        need(isinstance(salt, str) and re.fullmatch('[A-Za-z0-9_-]{22,}', salt), 'a salt')
        need(isinstance(name, str), 'a name')
        order = name.encode('utf-16-be')
        need(before is None or before < order, 'the order of disclosures')
        found[name], before = value, order
    return found


def verify_fields(answer, keys, clock=(), is_preview=False):
    receipt = signed_receipt(answer['receipt'], observation_of, 'observed_at', keys, clock)
    shown, count, root = answer['disclosures'], receipt['record_fields'], bytes.fromhex(receipt['record_root'][7:])
    if is_preview:
        for one in shown:
            require_types(one, index=int, disclosure=str, path=list)
            need(all(isinstance(h, str) and re.fullmatch('[0-9a-f]{64}', h) for h in one['path']), 'a path')
            path = [bytes.fromhex(h) for h in one['path']]
            need(climb(one['index'], count, leaf_hash(utf8(one['disclosure'])), path) == root, 'record_root')
        signed = disclosed([one['disclosure'] for one in shown])
    else:
        signed = disclosed(shown)
        need(len(shown) == count and tree_root([leaf_hash(utf8(one)) for one in shown]) == root, 'record_root')
    for name in ('domain', 'observed_at'):
        need(signed.get(name, receipt[name] if is_preview else None) == receipt[name], name)
    return receipt, signed


FIELDS = 'domain unicode registrable_domain observed_at summary certificate certificate_status wildcard services'


def verify_answer(answer, keys, clock=()):
    is_preview = answer['preview']
    optional = (str, type(None))
    require_types(answer, domain=str, unicode=str, registrable_domain=optional, observed_at=str, seq=int)
    require_types(answer, summary=dict, receipt=str, disclosures=list, signed=bool)
    need(answer['signed'] is not is_preview, 'signed')
    if is_preview:
        require_types(answer, notice=str, nameservers=list, held_back=dict)
    else:
        require_types(answer, signals=dict, certificate=(dict, type(None)), certificate_status=str, services=list)
        need('wildcard' in answer, 'wildcard')
    receipt, signed = verify_fields(answer, keys, clock, is_preview)
    need(all(answer[name] == receipt[name] for name in ('domain', 'seq', 'observed_at')), 'domain, seq or time')

    def is_signed(name, value):
        return name in signed and canonical(value) == canonical(signed[name])

    need(all(is_signed(name, answer[name]) for name in FIELDS.split() if name in answer), 'a member')
    if 'nameservers' in answer:
        need('signals.NS' in signed and answer['nameservers'] == signed['signals.NS']['values'], 'nameservers')
    if 'signals' in answer:
        need(all(is_signed(f'signals.{t}', value) for t, value in answer['signals'].items()), 'a signal')
        need(len(answer['signals']) == sum(name.startswith('signals.') for name in signed), 'a signal left out')
    if is_preview:
        need(answer['held_back']['fields'] == receipt['record_fields'] - len(signed), 'held_back')
    return receipt


def verify_provenance(page, keys):
    clock = [clock_of(one, 'records', None, keys) for one in page.get('clock', [])]
    receipts = []
    for row in page['items']:
        require_types(row, seq=int, observed_at=str, record_root=str, receipt=str)
        receipt = signed_receipt(row['receipt'], observation_of, 'observed_at', keys, clock)
        need(all(row[name] == receipt[name] for name in ('seq', 'observed_at', 'record_root')), 'a row')
        need(receipt['domain'] == page['domain'], 'another domain')
        require_logged(row.get('log'), row['receipt'])
        receipts.insert(0, receipt)
    require_chain(receipts, ('domain',), page.get('next_cursor', '') is None)


def verify_evidence(bundle, keys):
    require_types(bundle, domain=str, keys=list, records=list)
    own, unsound = document_keys(bundle)
    need(own and unsound == 0, 'the keys of the bundle')
    need(all(key.kid in {one.kid for one in keys} for key in own), 'a key that nobody trusts')
    clock = [clock_of(one, 'records', None, keys) for one in bundle.get('clock', [])]
    need(all(record.get('preview') is False for record in bundle['records']), 'a record that is none')
    receipts = [verify_answer(record, keys, clock) for record in bundle['records']]
    need(all(receipt['domain'] == bundle['domain'] for receipt in receipts), 'another domain')
    require_chain(receipts, ('domain',))
    for record in bundle['records']:
        require_logged(record.get('log'), record['receipt'])


def verify_dump(document, keys):
    """The proof of a public dump (5.11). Returns what its note says; the hashes of the files are for the caller."""
    require_types(document, day=str, note=str)
    note = Note(document['note'])
    said = dump_of(note.text)
    need(said['day'] == document['day'], 'the day of a proof')
    note.signer(keys, said['kid']).require_period(milliseconds(said['signed_at']))
    require_logged(document.get('log'), document['note'])
    return said


def verify_document(text, keys):
    if text.startswith('domain-observation/'):
        signed_receipt(text, observation_of, 'observed_at', keys)
        return
    document = parse_json(text)
    need(isinstance(document, dict), 'a document')
    if isinstance(document.get('note'), str) and document['note'].startswith('dump/v1\n'):
        verify_dump(document, keys)
    elif document.get('evidence') == 'domain-evidence/v1':
        verify_evidence(document, keys)
    elif isinstance(document.get('preview'), bool):
        verify_answer(document, keys)
    elif isinstance(document.get('items'), list):
        verify_provenance(document, keys)
    else:
        inner = document.get('preview') or document.get('observation')
        need(isinstance(inner, dict), 'a document')
        verify_answer(inner, keys)
