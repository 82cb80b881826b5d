"""Keys and signed notes: sections 2.2 to 3.3, 4.3, 4.7, 4.9 and 6."""

import re

from ed25519 import verifies
from text import HASH, NUMBER, TIME, TOKEN, Fault, base64url, from_base64, milliseconds, need, sha256, utf8


def key_hash(name, public_key, kind):
    return sha256(utf8(name) + b'\n' + bytes([kind]) + public_key)[:4]


def thumbprint(public_key):
    return base64url(sha256(b'{"crv":"Ed25519","kty":"OKP","x":"%s"}' % base64url(public_key).encode()))


class Key:
    def __init__(self, vkey, kinds=(1,), nbf=None, retired_at=None):
        match = re.fullmatch(r'([^\s+]+)\+([0-9a-f]{8})\+(\S+)', vkey) if isinstance(vkey, str) else None
        need(match, 'a verifier key')
        data = from_base64(match[3])
        need(data and data[0] in kinds, 'the type of a key')
        self.name, self.kind, self.public_key = match[1], data[0], data[1:]
        need(len(self.public_key) == (1312 if self.kind == 6 else 32), 'the length of a key')
        self.hash = key_hash(self.name, self.public_key, self.kind)
        need(self.hash.hex() == match[2], 'the key hash of a verifier key')
        self.kid, self.nbf, self.retired_at = thumbprint(self.public_key), nbf, retired_at

    def require_period(self, at):
        need(self.nbf is None or self.nbf <= at, 'before the key was in use')
        need(self.retired_at is None or at < self.retired_at, 'after the key was retired')


def document_keys(document):
    """The sound keys of a key document, and how many are not."""
    keys, unsound = [], 0
    for jwk in document['keys']:
        try:
            retired = jwk.get('retired_at')
            key = Key(jwk.get('vkey'), (1,), jwk.get('nbf', 0) * 1000, retired and milliseconds(retired))
            fixed = {'kty': 'OKP', 'crv': 'Ed25519', 'use': 'sig', 'alg': 'EdDSA'}
            fixed.update(x=base64url(key.public_key), kid=key.kid)
            need(all(jwk.get(name, value) == value for name, value in fixed.items()), 'members of a key')
            keys.append(key)
        except (Fault, TypeError):
            unsound += 1
    return keys, unsound


class Note:
    def __init__(self, note):
        need(isinstance(note, str), 'a note')
        utf8(note)
        need(not re.search('[\x00-\x09\x0b-\x1f]', note), 'a control character')
        split = note.rfind('\n\n')
        need(split > 0 and note.endswith('\n'), 'a note')
        self.text, self.lines = note[: split + 1], signature_lines(note[split + 2 :])

    def blobs(self, key):
        return [blob[4:] for name, blob in self.lines if name == key.name and blob[:4] == key.hash]

    def is_signed_by(self, key):
        message = utf8(self.text)
        return any(len(blob) == 64 and verifies(blob, message, key.public_key) for blob in self.blobs(key))

    def signer(self, keys, kid):
        own = [key for key in keys if key.kid == kid]
        need(own, 'no key with this kid')
        names = {name for name, _ in self.lines}
        key = next((key for key in own if key.name in names), own[0])
        need(self.is_signed_by(key), 'the signature')
        return key


def signature_lines(text):
    need(text.endswith('\n'), 'a signature line without its newline')
    lines = []
    for line in text[:-1].split('\n'):
        match = re.fullmatch(r'— (\S+) ([A-Za-z0-9+/=]+)', line)
        need(match, 'a signature line')
        lines.append((match[1], from_base64(match[2])))
        need(len(lines[-1][1]) >= 5, 'a short signature')
    return lines


def fields(text, header, forms):
    """The values of a signed text that has exactly these lines."""
    lines = text.split('\n')
    need(len(lines) == len(forms) + 2 and lines[0] == header and lines[-1] == '', f'the lines of {header}')
    values = {}
    for line, (name, form) in zip(lines[1:], forms):
        match = re.fullmatch(f'{name} ({form})', line, re.ASCII if form != TOKEN else 0)
        need(match, f'the line {name}')
        values[name] = match[1]
        if form == TIME:
            milliseconds(match[1])
        if form == NUMBER:
            values[name] = int(match[1])
    return values


def receipt_of(text):
    prev = f'none|{HASH}'
    forms = [('paper', TOKEN), ('piece', TOKEN), ('revision', NUMBER), ('content_hash', HASH), ('prev', prev)]
    forms += [('seq', NUMBER), ('filed_at', TIME), ('filed_by', TOKEN), ('kid', TOKEN)]
    return fields(text, 'newsdesk-receipt/v1', forms)


NAME = '(?! )[^\x00-\x1f\x7f-\x9f\u2028\u2029]{1,200}(?<! )'
SLUG = '[a-z0-9][a-z0-9-]*'


def review_of(text):
    forms = [('paper', SLUG), ('piece', SLUG), ('revision', NUMBER), ('reviewed_by', NAME), ('role', NAME)]
    return fields(text, 'review/v1', [*forms, ('reviewed_at', TIME), ('seq', NUMBER), ('kid', TOKEN)])


CLAIM_KEY = '[a-z0-9]+(?:-[a-z0-9]+)*'


def fact_of(text):
    forms = [('paper', SLUG), ('claim_key', CLAIM_KEY), ('version', NUMBER), ('fact_hash', HASH)]
    forms += [('prev', f'none|{HASH}'), ('seq', NUMBER), ('signed_at', TIME), ('signed_by', TOKEN), ('kid', TOKEN)]
    said = fields(text, 'fact/v1', forms)
    need(len(said['claim_key']) <= 80, 'a long claim key')
    need((said['version'] == 1) == (said['prev'] == 'none'), 'the prev of a first version')
    return said


ADDRESS = '[^\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]{1,2000}'


def evidence_of(text):
    lines = text.split('\n')
    is_keyed = len(lines) > 2 and lines[2].startswith('claim_key ')
    subject = ('claim_key', CLAIM_KEY) if is_keyed else ('piece', f'{SLUG} fact {NUMBER}')
    forms = [('paper', SLUG), subject, ('fact_version', NUMBER), ('instrument', ADDRESS), ('read_at', TIME)]
    forms += [('status', '2[0-9][0-9]|unread|gone'), ('body', f'none|{HASH}'), ('text', f'none|{HASH}')]
    forms += [('quote', f'none|(?:0|{NUMBER})-{NUMBER}')]
    # Lines that older notes do not have.
    later = [('sought', f'none|{HASH}'), ('observation', f'unverified|{HASH}'), ('observed_by', TOKEN)]
    forms += [one for one in later if any(line.startswith(f'{one[0]} ') for line in lines[10:])]
    forms += [('seq', NUMBER), ('kid', TOKEN)]
    said = fields(text, 'evidence/v1', forms)
    need(len(said.get('claim_key', '')) <= 80, 'a long claim key')
    need((said['body'] == 'none') == (said['status'] in ('unread', 'gone')), 'a status and its body')
    need(said['body'] != 'none' or said['text'] == 'none', 'a text without a body')
    if said['quote'] != 'none':
        start, end = map(int, said['quote'].split('-'))
        need(said['text'] != 'none' and start < end, 'the place of a quote')
        need(said.get('sought') != 'none', 'a quote that nobody looked for')
    seen = said.get('observation')
    need(('observed_by' in said) == (seen not in (None, 'unverified')), 'the key of an observation')
    need(seen is None or said['body'] != 'none', 'an observation that was not read')
    need(seen is None or (said['text'] == 'none') == (seen == 'unverified'), 'the text of an observation')
    return said


def archive_of(text):
    forms = [('generation', NUMBER), ('through', NUMBER), ('manifest', HASH), ('prev', f'none|{HASH}')]
    return fields(text, 'archive/v1', [*forms, ('signed_at', TIME), ('kid', TOKEN)])


def dump_of(text):
    forms = [('day', '[0-9]{4}-[0-9]{2}-[0-9]{2}'), ('generation', NUMBER), ('rows', f'0|{NUMBER}'), ('parquet', HASH)]
    forms += [('ndjson', HASH), ('prev', f'none|{HASH}'), ('signed_at', TIME), ('kid', TOKEN)]
    said = fields(text, 'dump/v1', forms)
    milliseconds(f'{said["day"]}T00:00:00.000Z')
    need((said['generation'] == 1) == (said['prev'] == 'none'), 'the prev of a first dump')
    return said


SERVICE = 'desk|records'


def parse_clock(text):
    lines = text.split('\n')
    has_paper = len(lines) > 2 and lines[2].startswith('paper ')
    paper = [('paper', '[a-z0-9][a-z0-9-]*')] if has_paper else []
    line = 'fact_seq' if '\nfact_seq ' in text else 'seq'
    seq = [(line, f'{NUMBER}-{NUMBER}' if line == 'fact_seq' else f'none|{NUMBER}-{NUMBER}')]
    said = fields(text, 'clock/v1', [('service', SERVICE), *paper, *seq, ('true_time', TIME), ('kid', TOKEN)])
    said['of'] = line
    said['range'] = None if said[line] == 'none' else [int(number) for number in said[line].split('-')]
    need(said['range'] is None or said['range'][0] <= said['range'][1], 'the range of a correction')
    need(said['service'] == 'desk' or not has_paper, 'a paper of the records')
    need(line == 'seq' or has_paper, 'facts of no paper')
    need(said['service'] == 'records' or has_paper or said['range'] is None, 'receipts of no paper')
    return said


def clock_of(text, service, paper, keys):
    note = Note(text)
    said = parse_clock(note.text)
    need(said['service'] == service and said.get('paper') == paper, 'a correction of something else')
    note.signer(keys, said['kid'])
    return said


def corrected(at, seq, clock, of='seq'):
    covering = [one for one in clock if one['of'] == of and one['range'] and one['range'][0] <= seq <= one['range'][1]]
    return min([at, *(milliseconds(one['true_time']) for one in covering)])
