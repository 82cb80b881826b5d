"""Text, numbers, hashes and JSON: section 1 of docs/protocol.md."""

import base64
import hashlib
import json
import re
from datetime import datetime


class Fault(Exception):
    """What a verifier must reject."""


def need(holds, why):
    if not holds:
        raise Fault(why)


HASH = r'sha256:[0-9a-f]{64}'
NUMBER = r'[1-9][0-9]{0,14}'
TIME = r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z'
TOKEN = r'\S+'


def sha256(data):
    return hashlib.sha256(data).digest()


def hash_text(text):
    return 'sha256:' + hashlib.sha256(utf8(text)).hexdigest()


def utf8(text):
    try:
        return text.encode('utf-8')
    except UnicodeEncodeError:
        raise Fault('half a surrogate pair')


def from_base64(text):
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        raise Fault('base64')
    need(base64.b64encode(data).decode() == text, 'base64 that is not canonical')
    return data


def base64url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip('=')


def milliseconds(text):
    need(isinstance(text, str) and re.fullmatch(TIME, text, re.ASCII), 'a time')
    try:
        at = datetime.strptime(text, '%Y-%m-%dT%H:%M:%S.%fZ')
    except ValueError:
        raise Fault('a time that is no date')
    since = at - datetime(1970, 1, 1)
    return since.days * 86_400_000 + since.seconds * 1000 + since.microseconds // 1000


def size(text):
    need(re.fullmatch(r'0|[1-9][0-9]{0,15}', text, re.ASCII) and int(text) < 2**53, 'a size')
    return int(text)


def parse_json(text):
    def members(pairs):
        need(len({name for name, _ in pairs}) == len(pairs), 'a member twice')
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=members)
    except ValueError:
        raise Fault('JSON')


def canonical(value):
    """RFC 8785 for values whose numbers are integers."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode('utf-16-be', 'surrogatepass'))
        return '{' + ','.join(f'{canonical(name)}:{canonical(value[name])}' for name in names) + '}'
    if isinstance(value, list):
        return '[' + ','.join(map(canonical, value)) + ']'
    need(not isinstance(value, float), 'a number that is not an integer')
    if isinstance(value, str):
        utf8(value)
    return json.dumps(value, ensure_ascii=False)


def require_types(value, **types):
    need(isinstance(value, dict), 'an object')
    for name, kind in types.items():
        need(name in value, f'{name} is missing')
        isBool = isinstance(value[name], bool) and kind is int
        need(isinstance(value[name], kind) and not isBool, f'the type of {name}')
