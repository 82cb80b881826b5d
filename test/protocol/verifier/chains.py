"""Receipts that a key signed in its period, and their chains: sections 2.4, 3.3, 4.4 and 5.5."""

from notes import Note, corrected
from text import hash_text, milliseconds, need


def signed_receipt(note, read, time_of, keys, clock=(), of='seq'):
    """The values, the receipt hash and the time of one receipt that a trusted key signed in its period."""
    parsed = Note(note)
    values = read(parsed.text)
    at = corrected(milliseconds(values[time_of]), values['seq'], clock, of)
    parsed.signer(keys, values['kid']).require_period(at)
    return {**values, 'hash': hash_text(parsed.text), 'at': at}


def require_chain(receipts, same_names, whole=True):
    need(receipts, 'an empty chain')
    need(not whole or receipts[0]['prev'] == 'none', 'the first prev')
    for before, after in zip(receipts, receipts[1:]):
        need(after['prev'] == before['hash'], 'prev')
        need(all(after[name] == before[name] for name in same_names), 'a chain of two things')
        need(after['seq'] > before['seq'], 'seq')
        need(after['at'] >= before['at'], 'time goes back')
