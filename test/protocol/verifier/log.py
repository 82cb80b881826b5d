"""The transparency log: section 7."""

import base64
import re

from ed25519 import verifies
from notes import SERVICE, Key, Note, archive_of, dump_of, evidence_of, fact_of, fields, parse_clock, receipt_of
from text import HASH, NUMBER, TIME, TOKEN, Fault, base64url, from_base64, hash_text, need, require_types, size, utf8
from tree import climb, leaf_hash

SLUG = '[a-z0-9][a-z0-9-]*'


def parse_leaf(text):
    need(len(utf8(text)) <= 65535, 'a long leaf')
    header = text.split('\n')[0]
    if header == 'newsdesk-receipt/v1':
        receipt_of(Note(text).text)
    elif header == 'fact/v1':
        fact_of(Note(text).text)
    elif header == 'evidence/v1':
        evidence_of(Note(text).text)
    elif header == 'archive/v1':
        archive_of(Note(text).text)
    elif header == 'dump/v1':
        dump_of(Note(text).text)
    elif header == 'clock/v1':
        parse_clock(Note(text).text)
    elif header == 'receipt-hash/v1':
        need(re.fullmatch(f'receipt-hash/v1\n{HASH}\n', text), 'a receipt-hash leaf')
    elif header == 'withdrawal/v1':
        fields(text, header, [('paper', SLUG), ('piece', SLUG), ('at', TIME), ('reason', HASH)])
    elif header in ('key/v1', 'key-retired/v1'):
        own = [('x', TOKEN), ('nbf', TIME)] if header == 'key/v1' else [('retired_at', TIME)]
        said = fields(text, header, [('service', SERVICE), ('kid', TOKEN), *own])
        for name in {'kid', 'x'} & set(said):
            data = base64.urlsafe_b64decode(said[name] + '=') if len(said[name]) == 43 else b''
            need(len(data) == 32 and base64url(data) == said[name], name)
    else:
        raise Fault('a kind of leaf')


class Checkpoint:
    def __init__(self, text):
        self.note = Note(text)
        lines = self.note.text.split('\n')
        need(len(lines) == 4 and lines[0], 'the lines of a checkpoint')
        self.origin, self.size, self.root = lines[0], size(lines[1]), from_base64(lines[2])
        need(len(self.root) == 32 and len(utf8(self.origin)) <= 255, 'a root of 32 bytes')
        need(len(self.note.lines) <= 64 and not any('+' in name for name, _ in self.note.lines), 'signatures')

    def signed_by(self, key):
        """The earliest time of its lines, 0 for a log's; None without any. Rejects a line that does not verify."""
        found = []
        for blob in self.note.blobs(key):
            if key.kind == 6:
                return None  # Python's library has no ML-DSA-44: such a witness does not count here.
            stamp, signature = (b'', blob) if key.kind == 1 else (blob[:8], blob[8:])
            at = int.from_bytes(stamp, 'big')
            message = self.note.text if key.kind == 1 else f'cosignature/v1\ntime {at}\n{self.note.text}'
            need(len(signature) == 64 and verifies(signature, utf8(message), key.public_key), 'a wrong signature')
            found.append(at)
        return min(found, default=None)


class Policy:
    def __init__(self, text):
        self.logs, self.witnesses, self.groups, self.quorum = [], {}, {}, None
        keys, members = set(), set()
        utf8(text)
        need(not re.search('[\x00-\x08\x0b-\x1f\x7f]', text), 'a control character')
        need(len(text.split('\n')) <= 1000, 'a long policy')
        for line in text.split('\n'):
            word, *items = re.split('[ \t]+', line.strip(' \t'))
            if word == '' or word.startswith('#'):
                continue
            need('#' not in line, 'a comment within a line')
            if word == 'log' and 1 <= len(items) <= 2:
                self.logs.append(Key(items[0], (1, 6)))
                need(self.logs[-1].public_key not in keys, 'a key twice')
                keys.add(self.logs[-1].public_key)
                self.require_address(items[1:])
            elif word == 'witness' and 2 <= len(items) <= 3:
                key = Key(items[1], (4, 6))
                need(key.public_key not in keys, 'a key twice')
                keys.add(key.public_key)
                self.define(items[0])
                self.witnesses[items[0]] = key
                self.require_address(items[2:])
            elif word == 'group' and len(items) >= 3:
                name, count, *own = items
                need(all(self.knows(one) and one not in members for one in own), 'members of a group')
                need(len(set(own)) == len(own), 'a member twice')
                members.update(own)
                least = {'any': 1, 'all': len(own)}.get(count) or (int(count) if re.fullmatch(NUMBER, count) else 0)
                need(1 <= least <= len(own), 'how many of a group')
                self.define(name)
                self.groups[name] = (least, own)
            elif word == 'quorum' and len(items) == 1 and self.quorum is None:
                need(items[0] == 'none' or self.knows(items[0]), 'an unknown quorum')
                self.quorum = items[0]
            else:
                raise Fault('a line of a policy')
        need(self.quorum is not None, 'no quorum')
        need(all(len(utf8(key.name)) <= 255 for key in [*self.logs, *self.witnesses.values()]), 'a long name')

    def require_address(self, items):
        need(all(re.fullmatch(r'https?://[^/?@]+[^?]*', one) for one in items), 'an address')

    def knows(self, name):
        return name in self.witnesses or name in self.groups

    def define(self, name):
        need(name != 'none' and not self.knows(name), 'a name twice')

    def is_met(self, cosigned):
        met = set(cosigned) & set(self.witnesses)
        for name, (least, members) in self.groups.items():
            if len(met & set(members)) >= least:
                met.add(name)
        return self.quorum == 'none' or self.quorum in met

    def require(self, checkpoint):
        logs = [key for key in self.logs if key.name == checkpoint.origin]
        signed = [checkpoint.signed_by(key) is not None for key in logs]
        need(any(signed), 'no log of the policy signed')
        times = {name: checkpoint.signed_by(key) for name, key in self.witnesses.items()}
        need(self.is_met([name for name, at in times.items() if at is not None]), 'the quorum')


def parse_tlog_proof(text):
    head, empty, checkpoint = text.partition('\n\n')
    lines = head.split('\n')
    need(empty and lines.pop(0) == 'c2sp.org/tlog-proof@v1', 'a tlog-proof')
    if lines and lines[0].startswith('extra '):
        from_base64(lines.pop(0)[6:])
    need(lines and lines[0].startswith('index '), 'an index')
    index = size(lines.pop(0)[6:])
    path = [from_base64(line) for line in lines]
    need(len(path) <= 63 and all(len(one) == 32 for one in path), 'the hashes of a proof')
    head = Checkpoint(checkpoint)
    need(index < head.size, 'an index beyond the tree')
    return index, path, head


def require_logged(log, note, policy=None):
    if log is None:
        need(policy is None, 'no proof that the log has it')
        return
    require_types(log, origin=str, index=int, tlog_proof=str)
    index, path, head = parse_tlog_proof(log['tlog_proof'])
    need(log['origin'] == head.origin and log['index'] == index, 'origin or index')
    leaves = (note, f'receipt-hash/v1\n{hash_text(note)}\n')
    roots = [climb(index, head.size, leaf_hash(utf8(leaf)), path) for leaf in leaves]
    need(head.root in roots, 'the root of the checkpoint')
    if policy is not None:
        policy.require(head)


def tile_path(path):
    match = re.fullmatch(r'tile/(entries|0|[1-9][0-9]?)/((?:x[0-9]{3}/)*[0-9]{3})(?:\.p/([1-9][0-9]?[0-9]?))?', path)
    need(match and (match[1] == 'entries' or int(match[1]) < 64), 'the path of a tile')
    need(not match[2].startswith('x000/') and (match[3] is None or int(match[3]) < 256), 'a second path')
    return {'level': match[1], 'index': size(str(int(re.sub('[x/]', '', match[2])))), 'width': int(match[3] or 256)}


def read_bundle(data, width):
    entries = []
    while data:
        length = int.from_bytes(data[:2], 'big')
        need(len(data) >= 2 + length, 'a bundle that is cut')
        entries.append(data[2 : 2 + length])
        data = data[2 + length :]
    need(len(entries) == width, 'the width of a bundle')
    return entries
