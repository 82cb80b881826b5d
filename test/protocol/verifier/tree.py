"""Merkle trees: sections 5.4 and 7.3."""

from text import need, sha256


def leaf_hash(data):
    return sha256(b'\x00' + data)


def node_hash(left, right):
    return sha256(b'\x01' + left + right)


def tree_root(hashes):
    if not hashes:
        return sha256(b'')
    if len(hashes) == 1:
        return hashes[0]
    split = 1 << (len(hashes) - 1).bit_length() - 1
    return node_hash(tree_root(hashes[:split]), tree_root(hashes[split:]))


def climb(index, size, leaf, path):
    """RFC 9162, section 2.1.3.2."""
    need(0 <= index < size, 'an index beyond the tree')
    node, last, reached = index, size - 1, leaf
    for sibling in path:
        need(last > 0, 'a path that is too long')
        if node % 2 == 1 or node == last:
            reached = node_hash(sibling, reached)
            while node % 2 == 0 and node != 0:
                node, last = node // 2, last // 2
        else:
            reached = node_hash(reached, sibling)
        node, last = node // 2, last // 2
    need(last == 0, 'a path that is too short')
    return reached


def require_consistent(old, new, proof):
    """RFC 9162, section 2.1.4.2."""
    need(old['size'] <= new['size'], 'a smaller tree')
    if old['size'] in (0, new['size']):
        root = sha256(b'') if old['size'] == 0 else new['root']
        return need(not proof and old['root'] == root, 'an equal tree')
    node, last = old['size'] - 1, new['size'] - 1
    while node % 2:
        node, last = node // 2, last // 2
    path = list(proof) if node else [old['root'], *proof]
    need(path, 'an empty proof')
    first = second = path.pop(0)
    for sibling in path:
        need(last > 0, 'a proof that is too long')
        if node % 2 or node == last:
            first, second = node_hash(sibling, first), node_hash(sibling, second)
            while node % 2 == 0 and node:
                node, last = node // 2, last // 2
        else:
            second = node_hash(second, sibling)
        node, last = node // 2, last // 2
    need(last == 0 and first == old['root'] and second == new['root'], 'the roots')
