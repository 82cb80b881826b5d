import assert from 'node:assert/strict';
import { test } from 'node:test';
import { appendLeaves } from '../../../src/proof/log/append.ts';
import { isConsistent } from '../../../src/proof/log/consistency.ts';
import { type HashTile, type Tile, tilePath, tilesBetween } from '../../../src/proof/log/tile.ts';
import { consistencySubtrees, inclusionSubtrees, logTree } from '../../../src/proof/log/tree.ts';
import { inclusionPaths, isIncluded, leafHash, merkleRoot } from '../../../src/proof/merkle.ts';
import { MemoryLog } from '../../support/log.ts';
import * as fc from '../../support/properties.ts';
import { mth, pathOf, proofOf } from '../../support/rfc6962.ts';
import { ONLY_WIDE } from '../../support/wide.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const entries = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, at) => `entry ${from + at}`);
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Sizes about the widths at which tiles fill. */
const size = fc.oneof(
  fc.integer({ min: 1, max: 40 }),
  fc.integer({ min: 250, max: 262 }),
  fc.integer({ min: 1, max: 700 }),
);

test('heads and proofs from tiles are those of the recursive definition, however the leaves came', () => {
  fc.assert(
    fc.property(fc.array(size, { minLength: 1, maxLength: 4 }), fc.nat(), fc.nat(), (batches, n, m) => {
      const log = new MemoryLog();
      for (const batch of batches) log.append(entries(log.size, log.size + batch));
      const data = entries(0, log.size).map(bytes);
      const tree = log.tree();
      const root = mth(data);
      assert.equal(hex(tree.root()), hex(root));
      const [index, old] = [n % data.length, 1 + (m % data.length)];
      const path = tree.inclusionProof(index);
      assert.deepEqual(path.map(hex), pathOf(index, data).map(hex));
      assert(isIncluded(leafHash(data[index] as Uint8Array), index, data.length, path, root));
      const proof = tree.consistencyProof(old);
      assert.deepEqual(proof.map(hex), proofOf(old, data).map(hex));
      const before = { size: old, root: mth(data.slice(0, old)) };
      assert(isConsistent(before, { size: data.length, root }, proof));
    }),
    { numRuns: 60 },
  );
});

test('the tiles of a tree do not depend on the batches', () => {
  fc.assert(
    fc.property(size, fc.array(size, { minLength: 1, maxLength: 6 }), (whole, cuts) => {
      const [one, other] = [new MemoryLog(), new MemoryLog()];
      one.append(entries(0, whole));
      for (const cut of cuts) other.append(entries(other.size, Math.min(whole, other.size + cut)));
      other.append(entries(other.size, whole));
      for (const tile of tilesBetween(0, whole)) {
        assert.equal(hex(other.file(tile)), hex(one.file(tile)), tilePath(tile));
      }
    }),
    { numRuns: 40 },
  );
});

test('a consistency proof holds between its two heads only', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 80 }), fc.nat(), fc.nat(), fc.nat(), (whole, n, m, at) => {
      const data = entries(0, whole).map(bytes);
      const [old, other] = [1 + (n % (whole - 1)), 1 + (m % (whole - 1))];
      const proof = proofOf(old, data);
      const head = { size: whole, root: mth(data) };
      const before = { size: old, root: mth(data.slice(0, old)) };
      assert(isConsistent(before, head, proof));
      // Another history, a shrunken tree, another size, a longer or a shorter proof, one with a hash altered.
      const rewritten = data.with(n % old, bytes('rewritten'));
      assert(!isConsistent({ size: old, root: mth(rewritten.slice(0, old)) }, head, proof));
      assert(!isConsistent(before, { size: whole, root: mth(rewritten) }, proof));
      assert(!isConsistent(before, { size: whole, root: mth(rewritten) }, proofOf(old, rewritten)));
      assert(!isConsistent(head, before, proof));
      if (other !== old) assert(!isConsistent({ size: other, root: mth(data.slice(0, other)) }, head, proof));
      assert(!isConsistent(before, head, [...proof, head.root]));
      assert(!isConsistent(before, head, proof.slice(1)));
      const altered = proof.map((hash, index) => (index === at % proof.length ? hash.with(0, ~(hash[0] ?? 0)) : hash));
      assert(!isConsistent(before, head, altered));
    }),
    { numRuns: 200 },
  );
});

test('nothing is proven from the empty tree or to the same tree', () => {
  const [empty, one] = [mth([]), mth([bytes('a')])];
  assert(isConsistent({ size: 0, root: empty }, { size: 1, root: one }, []));
  assert(isConsistent({ size: 1, root: one }, { size: 1, root: one }, []));
  assert(!isConsistent({ size: 0, root: one }, { size: 1, root: one }, []), 'the root of no leaves is one hash');
  assert(!isConsistent({ size: 0, root: empty }, { size: 1, root: one }, [one]));
  assert(!isConsistent({ size: 1, root: empty }, { size: 1, root: one }, []));
  assert(!isConsistent({ size: 1, root: one }, { size: 1, root: one }, [one]));
  assert.equal(hex(logTree(0, () => assert.fail('it has no tile')).root()), hex(empty));
});

test('a tree of three levels: roots, proofs and tiles, and only O(log n) of them are read', () => {
  const log = new MemoryLog();
  log.append(entries(0, 65_400));
  log.append(entries(65_400, 70_000));
  const leaves = log.entries.map(leafHash);
  const root = merkleRoot(leaves);
  const pathOfLeaf = inclusionPaths(leaves);
  const read: string[] = [];
  const tree = logTree(70_000, (tile) => {
    read.push(tilePath(tile));
    return log.read(tile);
  });
  assert.equal(hex(tree.root()), hex(root));
  // The example of tlog-tiles: 273 full tiles, one of 112, one full tile above, one of 17, and one of 1.
  const tiles = [...tilesBetween(0, 70_000)];
  const widths = (level: Tile['level']): number[] =>
    tiles.filter((tile) => tile.level === level).map(({ width }) => width);
  assert.deepEqual(widths('entries'), widths(0));
  assert.deepEqual(widths(0), [...Array(273).fill(256), 112]);
  assert.deepEqual(widths(1), [256, 17]);
  assert.deepEqual(widths(2), [1]);
  for (const index of [0, 255, 256, 65_535, 65_536, 69_887, 69_888, 69_999]) {
    const path = tree.inclusionProof(index);
    assert.deepEqual(path.map(hex), pathOfLeaf(index).map(hex), `${index}`);
  }
  for (const old of ONLY_WIDE === false ? [1, 255, 256, 65_536, 65_537, 69_999, 70_000] : [256, 65_537]) {
    const before = { size: old, root: merkleRoot(leaves.slice(0, old)) };
    assert(isConsistent(before, { size: 70_000, root }, tree.consistencyProof(old)), `${old}`);
  }
  assert(read.length < 30, read.join(' '));
});

test('places beyond the tree have no proof', () => {
  const log = new MemoryLog();
  log.append(entries(0, 3));
  for (const wrong of [-1, 3, 0.5, Number.NaN]) assert.throws(() => log.tree().inclusionProof(wrong), RangeError);
  for (const wrong of [-1, 4, 0.5, Number.NaN]) assert.throws(() => log.tree().consistencyProof(wrong), RangeError);
});

test('proofs of trees beyond 32 bits are as long as their height', () => {
  const whole = 2 ** 52 + 1;
  assert.equal(inclusionSubtrees(0, whole).length, 53);
  assert.deepEqual(inclusionSubtrees(2 ** 52, whole), [{ start: 0, end: 2 ** 52 }]);
  assert.equal(consistencySubtrees(1, whole).length, 53);
});

test('a tile that is shorter than its width is a fault of the store, and is named', () => {
  const log = new MemoryLog();
  log.append(entries(0, 300));
  const cut = (tile: HashTile): Uint8Array => log.read(tile).subarray(1);
  assert.throws(() => logTree(300, cut).root(), /tile\/\S+ has \d+ bytes/);
});

test('appending the same leaves again gives the same tiles, which repairs a crash', () => {
  const log = new MemoryLog();
  log.append(entries(0, 500));
  const hashes = entries(500, 800).map(leafHash);
  const [once, twice] = [appendLeaves(500, hashes, log.read), appendLeaves(500, hashes, log.read)];
  assert.deepEqual(once.tiles, twice.tiles);
  assert.equal(hex(logTree(800, once.read).root()), hex(merkleRoot(entries(0, 800).map(leafHash))));
});

test('the tiles of a tree give the heads and proofs of every smaller one', () => {
  const log = new MemoryLog();
  log.append(entries(0, 600));
  const tiles = new Map([...tilesBetween(0, 600)].map((tile) => [`${tile.level}/${tile.index}`, log.file(tile)]));
  const read = ({ level, index }: HashTile): Uint8Array => tiles.get(`${level}/${index}`) ?? new Uint8Array();
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 600 }), fc.nat(), (whole, n) => {
      const tree = logTree(whole, read);
      const data = entries(0, whole).map(bytes);
      const root = mth(data);
      assert.equal(hex(tree.root()), hex(root));
      const index = n % whole;
      assert(isIncluded(leafHash(`entry ${index}`), index, whole, tree.inclusionProof(index), root));
      const old = { size: index + 1, root: logTree(index + 1, read).root() };
      assert(isConsistent(old, { size: whole, root }, tree.consistencyProof(index + 1)));
    }),
    { numRuns: 50 },
  );
});
