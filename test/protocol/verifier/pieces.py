"""Receipts and proofs of pieces, facts, and evidence: section 4."""

import base64
import re
from datetime import datetime, timedelta, timezone
from urllib.parse import unquote

from chains import require_chain, signed_receipt
from log import require_logged
from notes import Key, Note, clock_of, evidence_of, fact_of, receipt_of, review_of
from observations import observation_of, verify_fields
from text import canonical, hash_text, milliseconds, need, require_types


def require_generations(generations, keys, clock=()):
    receipts = []
    for index, generation in enumerate(generations):
        texts = ('content_hash', 'receipt_hash', 'filed_at', 'kid', 'receipt')
        require_types(generation, revision=int, seq=int, **{name: str for name in texts})
        receipt = signed_receipt(generation['receipt'], receipt_of, 'filed_at', keys, clock)
        for name in ('revision', 'seq', 'content_hash', 'filed_at', 'kid'):
            need(generation[name] == receipt[name], name)
        need(generation['receipt_hash'] == receipt['hash'], 'receipt_hash')
        need(generation['revision'] == index + 1, 'a missing revision')
        receipts.append(receipt)
    require_chain(receipts, ('paper', 'piece'))
    return receipts


def require_reviews(reviews, receipts, keys, is_alone):
    filed, newest = {one['revision']: one for one in receipts}, 0
    need(isinstance(reviews, list), 'reviews')
    for one in reviews:
        require_types(one, note=str, vkey=str)
        own, note = Key(one['vkey']), Note(one['note'])
        review = review_of(note.text)
        at, receipt = milliseconds(review['reviewed_at']), filed.get(review['revision'])
        note.signer([*keys, own] if is_alone else keys, review['kid']).require_period(at)
        need(own.kid == review['kid'], 'the key of a review')
        need(receipt and all(receipt[name] == review[name] for name in ('paper', 'piece')), 'a review of another piece')
        need(at >= receipt['at'] and review['seq'] > newest, 'the order of a review')
        newest = review['seq']


FACT = ('claim_key', 'version', 'statement', 'source', 'instrument', 'quote', 'status', 'note')


def verify_fact(document, keys=None):
    """4.8"""
    require_types(document, fact=dict, versions=list)
    before = None
    listed = document.get('clock', [])
    need(isinstance(listed, list), 'clock')
    paper = fact_of(Note(document['fact'].get('receipt')).text)['paper']
    clock = []
    for one in listed:
        require_types(one, note=str, vkey=str)
        own = Key(one['vkey'])
        said = clock_of(one['note'], 'desk', paper, [own] if keys is None else keys)
        need(own.kid == said['kid'] and said['of'] == 'fact_seq', 'a correction of versions, and its key')
        clock.append(said)
    for index, one in enumerate(document['versions']):
        texts = ('claim_key', 'statement', 'source', 'instrument', 'status', 'fact_hash', 'signed_at', 'kid', 'receipt')
        require_types(one, version=int, seq=int, vkey=str, **{name: str for name in texts})
        need(all(name in one and isinstance(one[name], (str, type(None))) for name in ('quote', 'note')), 'quote, note')
        own = [Key(one['vkey'])] if keys is None else keys
        said = signed_receipt(one['receipt'], fact_of, 'signed_at', own, clock, 'fact_seq')
        need(hash_text(canonical({'v': 1, **{name: one[name] for name in FACT}})) == said['fact_hash'], 'fact_hash')
        need(all(one[name] == said[name] for name in ('fact_hash', 'seq', 'signed_at', 'kid')), 'the listed members')
        need(Key(one['vkey']).kid == said['kid'], 'the key of a version')
        need(one['status'] in ('standing', 'corrected', 'retracted'), 'status')
        need(one['claim_key'] == said['claim_key'], 'another fact')
        need(one['version'] == said['version'] == index + 1, 'a missing version')
        need(said['prev'] == (before['hash'] if before else 'none'), 'prev')
        need(not before or all(said[name] == before[name] for name in ('paper', 'claim_key')), 'two facts')
        need(not before or said['seq'] > before['seq'], 'seq')
        before = said
    need(document['versions'], 'no version')
    shown = (*FACT, 'fact_hash', 'seq', 'signed_at', 'kid', 'receipt', 'vkey')
    newest = document['versions'][-1]
    need(all(name in document['fact'] and document['fact'][name] == newest[name] for name in shown), 'the newest')
    if document.get('log') is not None:
        require_logged(document['log'], newest['receipt'])


EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
INSTANT = r'(\d{4}-\d\d-\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:Z|([+-])(\d\d):(\d\d))'


def end_of(text):
    """The end of a day, or of an instant that names its zone and lasts a millisecond; in ms."""
    is_day = re.fullmatch(r'\d{4}-\d\d-\d\d', text, re.ASCII)
    match = is_day or re.fullmatch(INSTANT, text, re.ASCII)
    need(match, 'as_of')
    try:
        day = datetime.strptime(text[:10], '%Y-%m-%d').replace(tzinfo=timezone.utc)
    except ValueError:
        need(False, 'as_of')
    if is_day:
        return (day - EPOCH) // timedelta(milliseconds=1) + 86_400_000
    hour, minute, second = (int(match[at] or 0) for at in (2, 3, 4))
    zone_hour, zone_minute = int(match[7] or 0), int(match[8] or 0)
    need(hour < 24 and minute < 60 and second < 60 and zone_hour < 24 and zone_minute < 60, 'as_of')
    at = day - EPOCH + timedelta(hours=hour, minutes=minute, seconds=second)
    zone = timedelta(hours=zone_hour, minutes=zone_minute)
    millisecond = int(((match[5] or '') + '000')[:3])
    return (at - (-zone if match[6] == '-' else zone)) // timedelta(milliseconds=1) + millisecond + 1


def require_address(address, receipt):
    """4.10: an observation is of the domain and the time that its address asks for."""
    path, _, query = address.split('#', 1)[0].partition('?')
    segments = path.split('/')[-3:]
    if len(segments) > 1 and (segments[-2] == 't' or segments[:-1] == ['v1', 'domains']):
        need(segments[-1] == receipt['domain'], 'an observation of another domain')
    asked = next((one[6:] for one in query.split('&') if one.startswith('as_of=')), '')
    if asked:
        need(receipt['at'] < end_of(unquote(asked)), 'an observation from after the time of its address')


def line_of(name, value):
    """4.10: a field of an observation in its text."""
    if isinstance(value, str):
        return value
    values = value.get('values') if isinstance(value, dict) and name.startswith('signals.') else None
    is_list = isinstance(values, list) and all(isinstance(one, str) for one in values)
    if not is_list or not isinstance(value.get('status'), str):
        return canonical(value)
    return ', '.join(values) if values else value['status']


def require_observation(observation, said):
    is_named = said.get('observation', 'unverified') != 'unverified'
    need((observation is not None) == is_named, 'an observation, or none')
    if not is_named:
        return
    require_types(observation, receipt=str, disclosures=list)
    receipt, fields = verify_fields(observation, [Key(said['observed_by'])], is_preview=True)
    need(receipt['hash'] == said['observation'], 'another observation')
    require_address(said['instrument'], receipt)
    require_logged(observation.get('log'), observation['receipt'])
    lines = [f'{name.removeprefix("signals.")} {line_of(name, value)}' for name, value in fields.items()]
    need(hash_text('\n'.join([f'observation {receipt["seq"]}', *lines])) == said['text'], 'the text of an observation')


def require_evidence(listed, proof, receipt, keys, is_alone):
    need(isinstance(listed, list), 'evidence')
    facts = proof['basis'].get('cited_facts')
    cited = {fact.get('n'): fact for fact in facts if isinstance(fact, dict)} if isinstance(facts, list) else {}
    newest = 0
    for one in listed:
        require_types(one, n=int, note=str, vkey=str)
        own, note, n = Key(one['vkey']), Note(one['note']), one['n']
        said = evidence_of(note.text)
        at = milliseconds(said['read_at'])
        note.signer([*keys, own] if is_alone else keys, said['kid']).require_period(at)
        need(own.kid == said['kid'], 'the key of evidence')
        need(said['paper'] == receipt['paper'] and n in cited and n > newest, 'the place of evidence')
        need(cited[n].get('instrument') == said['instrument'], 'evidence of another instrument')
        quote = cited[n].get('quote')
        if 'sought' in said and (quote is not None or 'claim_key' not in said):
            need(said['sought'] == (hash_text(quote) if isinstance(quote, str) else 'none'), 'another quote')
        require_observation(one.get('observation'), said)
        key = cited[n].get('claim_key')
        if 'claim_key' in said:
            need(said['claim_key'] == key, 'evidence of another fact')
        else:
            need(said['piece'] == f'{proof["id"]} fact {n}', 'evidence of another fact')
            need(said['fact_version'] == proof['revision'] and at >= receipt['at'], 'evidence of another revision')
        newest = n


def verify_proof(proof, keys=None):
    texts = ('id', 'content_hash', 'receipt')
    require_types(proof, revision=int, basis=dict, receipt_verify=dict, generations=list, **{n: str for n in texts})
    basis, how = proof['basis'], proof['receipt_verify']
    require_types(basis, v=int, id=str, revision=int)
    require_types(how, **{n: str for n in ('alg', 'signed', 'key_name', 'kid', 'public_key', 'vkey')})
    vkeys = how.get('vkeys', [])
    need(isinstance(vkeys, list), 'vkeys')
    listed = [Key(vkey) for vkey in vkeys]
    own = Key(how['vkey'])
    trusted = [own, *listed] if keys is None else keys
    need(basis['v'] == 1, 'v')
    need(hash_text(canonical(basis)) == proof['content_hash'], 'content_hash')
    need(basis['id'] == proof['id'] and basis['revision'] == proof['revision'], 'id or revision')
    note = Note(proof['receipt'])
    receipt = receipt_of(note.text)
    clock = [clock_of(one, 'desk', receipt['paper'], trusted) for one in proof.get('clock', [])]
    receipts = require_generations(proof['generations'], trusted, clock)
    require_reviews(proof.get('reviews', []), receipts, trusted, keys is None)
    require_evidence(proof.get('evidence', []), proof, receipts[-1], trusted, keys is None)
    last = proof['generations'][-1]
    need(last['revision'] == proof['revision'] and last['content_hash'] == proof['content_hash'], 'the newest')
    need(last['receipt'] == proof['receipt'] and receipt['piece'] == proof['id'], 'the newest receipt')
    if 'provenance' in basis:
        need(basis['provenance'] == 'archive' and receipt['filed_by'] == 'cli', 'provenance')
    signers = {one['kid'] for one in receipts} | {one['kid'] for one in clock}
    need(how['alg'] == 'Ed25519' and how['signed'] == note.text, 'alg or signed')
    public_key = base64.b64encode(own.public_key).decode()
    said = (how['key_name'], how['public_key'], how['kid'], how['kid'])
    need(said == (own.name, public_key, own.kid, receipt['kid']), 'the key of receipt_verify')
    need(all(key.kid in signers for key in listed), 'a key that signed nothing')
    require_logged(proof.get('log'), proof['receipt'])
