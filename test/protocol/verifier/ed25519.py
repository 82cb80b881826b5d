"""Ed25519 (RFC 8032, section 5.1) by the strict rules of section 2.1."""

import hashlib

from text import Fault, need

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT = pow(2, (P - 1) // 4, P)
NEUTRAL = (0, 1, 1, 0)


def add(a, b):
    m, n = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    c, d = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    e, f, g, h = n - m, d - c, d + c, n + m
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def times(k, point):
    total = NEUTRAL
    while k:
        if k & 1:
            total = add(total, point)
        point = add(point, point)
        k >>= 1
    return total


def same(a, b):
    return (a[0] * b[2] - b[0] * a[2]) % P == 0 and (a[1] * b[2] - b[1] * a[2]) % P == 0


def point(data):
    """A point of prime order in its canonical encoding."""
    y = int.from_bytes(data, 'little')
    sign, y = y >> 255, y & (2**255 - 1)
    need(len(data) == 32 and y < P, 'an encoding that is not canonical')
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT % P
    need((x * x - square) % P == 0 and (x or not sign), 'no point')
    found = (P - x if x & 1 != sign else x, y)
    found = (found[0], y, 1, found[0] * y % P)
    need(not same(found, NEUTRAL) and same(times(L, found), NEUTRAL), 'no point of prime order')
    return found


BASE_Y = 4 * pow(5, -1, P) % P
BASE = point(BASE_Y.to_bytes(32, 'little'))


def verifies(signature, message, public_key):
    try:
        a, r, s = point(public_key), point(signature[:32]), int.from_bytes(signature[32:], 'little')
    except Fault:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + public_key + message).digest(), 'little') % L
    return s < L and same(times(s, BASE), add(r, times(k, a)))
