import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkEdge, EMPTY_EDGE, edgeRoot, growEdge } from '../../../src/proof/log/append.ts';
import { LogFault } from '../../../src/proof/log/log-fault.ts';
import { tilePath } from '../../../src/proof/log/tile.ts';
import { leafHash, merkleRoot } from '../../../src/proof/merkle.ts';
import { MemoryLog } from '../../support/log.ts';
import * as fc from '../../support/properties.ts';

const entries = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, at) => `entry ${from + at}`);

test('the edge of a tree gives the roots and tiles of the whole tree, batch by batch', () => {
  const batch = fc.oneof(fc.nat(40), fc.integer({ min: 200, max: 600 }), fc.constant(256));
  fc.assert(
    fc.property(fc.array(batch, { minLength: 1, maxLength: 5 }), (batches) => {
      const log = new MemoryLog();
      let edge = EMPTY_EDGE;
      for (const count of batches) {
        const more = entries(log.size, log.size + count);
        log.append(more);
        const grown = growEdge(edge, more.map(leafHash));
        for (const { tile, bytes } of grown.tiles) assert.deepEqual(bytes, log.file(tile), tilePath(tile));
        edge = grown.edge;
        checkEdge(edge);
        assert.deepEqual(edgeRoot(edge), log.tree().root());
      }
    }),
    { numRuns: 60 },
  );
});

test('the edge of a large tree is small', () => {
  let edge = EMPTY_EDGE;
  const hashes = entries(0, 70_000).map(leafHash);
  for (let at = 0; at < hashes.length; at += 9_999) edge = growEdge(edge, hashes.slice(at, at + 9_999)).edge;
  assert.deepEqual(edgeRoot(edge), merkleRoot(hashes));
  assert.deepEqual(
    edge.levels.map(({ length }) => length / 32),
    [112, 17, 1],
  );
});

test('an edge that is not that of its size is refused', () => {
  const { edge } = growEdge(EMPTY_EDGE, entries(0, 300).map(leafHash));
  const { levels } = edge;
  const [lowest = new Uint8Array(), above = new Uint8Array()] = levels;
  for (const wrong of [
    { size: 299, levels },
    { size: 300, levels: [lowest] },
    { size: 300, levels: [lowest.subarray(1), above] },
    { size: 300, levels: [...levels, new Uint8Array()] },
    { size: 0, levels },
  ]) {
    assert.throws(() => checkEdge(wrong), LogFault);
  }
});
