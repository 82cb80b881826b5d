"""The examples of docs/protocol.md: whether they fit together."""

import base64
import hmac
import re
from pathlib import Path

from log import Checkpoint, Policy, parse_leaf, require_logged
from notes import Key, Note, archive_of, clock_of, document_keys, evidence_of, fact_of, key_hash, review_of
from observations import verify_answer
from pieces import require_observation, verify_proof
from text import canonical, from_base64, hash_text, need, parse_json, sha256, size, utf8
from tree import leaf_hash, require_consistent, tree_root


def check_page(page):
    """The examples of the page fit together, whoever made them."""
    found = re.findall(r'<!-- example: ([a-z0-9 -]+) -->\n```\w+\n(.*?)```\n', Path(page).read_text('utf-8'), re.S)
    example = dict(found)
    keys, unsound = document_keys(parse_json(example['key document']))
    need(len(keys) == 1 and unsound == 0, 'the key document')
    need(hash_text(example['basis'][:-1]) + '\n' == example['content hash'], 'the content hash')
    proof, policy = parse_json(example['proof']), Policy(example['policy'])
    need(canonical(proof['basis']) + '\n' == example['basis'] and proof['receipt'] == example['receipt'], 'the basis')
    verify_proof(proof, keys)
    require_logged(proof['log'], proof['receipt'], policy)
    need(proof['log']['tlog_proof'] == example['tlog-proof'], 'the tlog-proof')
    need(hash_text(Note(example['receipt']).text) + '\n' == example['receipt hash'], 'the receipt hash')
    clock_of(example['clock'], 'desk', 'harbor-ledger', keys)
    note = Note(example['fact'])
    fact = fact_of(note.text)
    note.signer(keys, fact['kid'])
    need(hash_text(example['fact basis'][:-1]) == fact['fact_hash'], 'the hash of a fact')
    note = Note(example['review'])
    note.signer(keys, review_of(note.text)['kid'])
    note = Note(example['evidence'])
    note.signer(keys, evidence_of(note.text)['kid'])
    note = Note(example['archive note'])
    note.signer(keys, archive_of(note.text)['kid'])
    data_key = Key(f'data.example/door+{key_hash("data.example/door", keys[0].public_key, 1).hex()}+'
                   + base64.b64encode(b'\x01' + keys[0].public_key).decode())
    preview = parse_json(example['preview'])
    preview['notice'] = ''
    receipt = verify_answer(preview, [data_key])
    note = Note(example['observed evidence'])
    said = evidence_of(note.text)
    note.signer(keys, said['kid'])
    require_observation(preview, said)
    need(hash_text(example['observation text'][:-1]) == said['text'], 'the text of an observation')
    lines = example['disclosures'][:-1].split('\n')
    hashes = [leaf_hash(utf8(line)) for line in lines]
    need([one.hex() for one in hashes] == example['disclosure hashes'].split(), 'the leaf hashes')
    need(tree_root(hashes).hex() == receipt['record_root'][7:] and example['observation'] == preview['receipt'], 'root')
    for kind in ('key', 'receipt-hash', 'withdrawal', 'key-retired'):
        parse_leaf(example[f'{kind} leaf'])
    need(hash_text(example['receipt']) in example['receipt-hash leaf'], 'the receipt-hash leaf')
    policy.require(Checkpoint(example['checkpoint']))
    old, _, rest = example['add-checkpoint'].partition('\n')
    hashes, _, sent = rest.partition('\n\n')
    head = Checkpoint(sent)
    first = {'size': size(old[4:]), 'root': leaf_hash(utf8(example['key leaf']))}
    path = [from_base64(line) for line in hashes.split('\n')]
    require_consistent(first, {'size': head.size, 'root': head.root}, path)
    check_access_key(example['access key'].strip())
    check_webhook(example['webhook'])
    check_export(example['ledger export'])
    for name in ('error', 'problem'):
        headers, _, body = example[name].partition('\n\n')
        need(' 400 ' in headers and parse_json(body)['error'] == 'invalid_request', name)
    menu, required = parse_json(example['menu']), parse_json(example['payment required'])
    one, two = menu['accepts'][0], required['accepts'][0]
    need(one['maxAmountRequired'] == two['amount'] and one['resource'] == required['resource']['url'], 'the menus')
    return [], f'{len(found)} examples'


BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'


def check_access_key(key):
    """9.1"""
    prefix, body, check = key[:4], key[4:41], key[41:]
    need(prefix == 'drs_' and len(key) == 47, 'the form of an access key')
    rest, digits = int.from_bytes(sha256(utf8(prefix + body))[:6], 'big'), ''
    for _ in range(6):
        rest, digit = divmod(rest, 62)
        digits = BASE62[digit] + digits
    need(digits == check, 'the checksum of an access key')


def check_webhook(text):
    """10"""
    head, _, body = text[:-1].partition('\n\n')
    headers = dict(line.split(': ', 1) for line in head.split('\n'))
    key, at = base64.b64decode(headers['secret'].removeprefix('whsec_')), headers['webhook-timestamp']

    def mac(message):
        return hmac.new(key, utf8(message), 'sha256').digest()

    need(headers['X-NRF-Signature'] == f't={at},v1={mac(f"{at}.{body}").hex()}', 'X-NRF-Signature')
    standard = base64.b64encode(mac(f'{headers["webhook-id"]}.{at}.{body}')).decode()
    need(headers['webhook-signature'] == f'v1,{standard}', 'webhook-signature')


def check_export(text):
    """11.1"""
    lines = text[:-1].split('\n')
    end = parse_json(lines.pop())
    need(parse_json(lines[0]) == {'type': 'ledger', 'version': 5}, 'the first line of an export')
    need(end['entries'] == len(lines) - 1, 'the entries of an export')
    need(end['sha256'] == sha256(utf8(''.join(f'{line}\n' for line in lines))).hex(), 'the hash of an export')
