import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { envIn, tempFolder } from '../../support/app-context.ts';
import { ONLY_WIDE } from '../../support/wide.ts';
import { WXR_FOOT, WXR_HEAD, wxrItem } from './archives.ts';

const PIECES = 10_000;
/** The heap of the program, in MB: a fifth of what the archive takes as objects. */
const HEAP = 150;
const PROGRAM = fileURLToPath(new URL('../../../bin/broadsheet.mjs', import.meta.url));

function* export10k(): Iterable<string> {
  yield WXR_HEAD;
  for (let n = 0; n < PIECES; n++) {
    const html = `<!-- wp:paragraph --><p>${`Ebb <em>and</em> flow ${n}. `.repeat(200)}</p><!-- /wp:paragraph -->`;
    const date = new Date(Date.UTC(2005, 0, 1) + n * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');
    yield wxrItem({ id: n + 1, title: `Piece ${n}`, name: `piece-${n}`, html, date, tags: [`Tag ${n % 40}`] });
  }
  yield WXR_FOOT;
}

test('ten thousand pieces come in with a small heap, and a second run changes nothing', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const file = join(folder, 'big.xml');
  await pipeline(Readable.from(export10k()), createWriteStream(file));
  const run = async () => {
    const args = [
      `--max-old-space-size=${HEAP}`,
      PROGRAM,
      'import',
      file,
      '--paper',
      'quay',
      '--create',
      '--air',
      '--no-press',
    ];
    const child = spawn(process.execPath, [...args, '--json'], {
      env: envIn(folder),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    for await (const chunk of child.stdout) said += chunk;
    const { filed, unchanged, refused } = JSON.parse(said);
    return [filed, unchanged, refused.length];
  };
  assert.deepEqual(await run(), [PIECES, 0, 0]);
  assert.deepEqual(await run(), [0, PIECES, 0]);
});
