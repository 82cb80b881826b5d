import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inspectMedia } from '../../src/media/inspect.ts';
import { Fault } from '../../src/shared/fault.ts';

const VECTORS = fileURLToPath(new URL('../vectors/svg/', import.meta.url));
const bytesOf = (folder: string) =>
  readdirSync(VECTORS + folder).map((name) => [name, readFileSync(`${VECTORS}${folder}/${name}`)] as const);

test('SVG: what a picture may have', async () => {
  for (const [name, bytes] of bytesOf('valid')) {
    await assert.doesNotReject(inspectMedia(`media/art/${name}`, bytes), name);
  }
});

test('SVG: what a picture may not have, each for the reason that its first line gives', async () => {
  for (const [name, bytes] of bytesOf('invalid')) {
    const why = /^<!-- refused: (.+) -->\n/.exec(bytes.toString())?.[1];
    assert.ok(why, name);
    await assert.rejects(inspectMedia(`media/art/${name}`, bytes), (error) => {
      assert.ok(error instanceof Fault, String(error));
      assert.match(error.message.slice(`media/art/${name}`.length), new RegExp(why), name);
      assert.match(error.message, /; .+\.$/, 'with the cure');
      return true;
    });
  }
});
