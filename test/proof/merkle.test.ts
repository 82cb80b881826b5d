import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inclusionPaths, isIncluded, leafHash, merkleRoot, nodeHash, rootFromPath } from '../../src/proof/merkle.ts';
import * as fc from '../support/properties.ts';
import { mth, pathOf } from '../support/rfc6962.ts';

/** The roots of the first n of these leaves, as the implementations of Certificate Transparency test themselves by. */
const LEAVES = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
const ROOTS = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

test('roots are those of the well-known trees', () => {
  const leaves = LEAVES.map((data) => leafHash(new Uint8Array(Buffer.from(data, 'hex'))));
  for (const [size, root] of ROOTS.entries()) assert.equal(hex(merkleRoot(leaves.slice(0, size))), root, `${size}`);
});

const anyData = fc.array(fc.uint8Array({ maxLength: 4 }), { minLength: 1, maxLength: 40 });

test('roots and paths are those of the recursive definition, and each path leads to the root', () => {
  fc.assert(
    fc.property(anyData, fc.nat(), (data, n) => {
      const index = n % data.length;
      const leaves = data.map(leafHash);
      const root = merkleRoot(leaves);
      assert.equal(hex(root), hex(mth(data)));
      const path = inclusionPaths(leaves)(index);
      assert.deepEqual(path.map(hex), pathOf(index, data).map(hex));
      assert(isIncluded(leaves[index] as Uint8Array, index, data.length, path, root));
    }),
  );
});

test('a path holds for its own leaf, place and tree only', () => {
  const distinct = fc.uniqueArray(fc.nat(0xffff), { minLength: 2, maxLength: 40 });
  fc.assert(
    fc.property(distinct, fc.nat(), fc.nat(), fc.nat(50), (numbers, n, m, size) => {
      const leaves = numbers.map((number) => leafHash(String(number)));
      const [index, other] = [n % leaves.length, m % leaves.length];
      const path = inclusionPaths(leaves)(index);
      const root = merkleRoot(leaves);
      const leaf = leaves[index] as Uint8Array;
      const holds = (l: Uint8Array, i: number, s: number, p: Uint8Array[]) => isIncluded(l, i, s, p, root);
      if (other !== index) {
        assert(!holds(leaves[other] as Uint8Array, index, leaves.length, path));
        assert(!holds(leaf, other, leaves.length, path));
      }
      // A longer path, or a shorter one, is that of no leaf.
      assert(!holds(leaf, index, leaves.length, [...path, root]));
      assert(!holds(leaf, index, leaves.length, path.slice(1)));
      const steps = rootFromPath(leaf, index, size, path);
      if (size <= index) assert.equal(steps, null);
      for (const wrong of [-1, 0.5, leaves.length, Number.NaN]) {
        assert.equal(rootFromPath(leaf, wrong, leaves.length, path), null);
        assert.throws(() => inclusionPaths(leaves)(wrong), RangeError);
      }
    }),
  );
});

test('a node is not a leaf: joining two leaves gives no leaf of a smaller tree', () => {
  const [a, b] = [leafHash('a'), leafHash('b')];
  assert.notEqual(hex(leafHash(Buffer.concat([a, b]))), hex(nodeHash(a, b)));
});

test('a place beyond 32 bits is walked as well', () => {
  const size = 2 ** 40;
  const sibling = leafHash('sibling');
  const path = Array.from({ length: 40 }, () => sibling);
  const first = rootFromPath(leafHash('a'), 0, size, path);
  const last = rootFromPath(leafHash('a'), size - 1, size, path);
  assert(first !== null && last !== null);
  assert.notEqual(hex(first), hex(last));
  assert.equal(rootFromPath(leafHash('a'), 0, size, path.slice(1)), null);
});
