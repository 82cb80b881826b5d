import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type Scope, tempFolder } from './app-context.ts';

const HAS_WARCIO = spawnSync('warcio', ['--version']).status === 0;
/** Why a test that needs warcio is skipped. `.ci/wide` installs it (https://pypi.org/project/warcio). */
export const NEEDS_WARCIO: false | string = HAS_WARCIO ? false : 'warcio is not on the PATH';

/**
 * Asserts that an archive has this many records, each of which `warcio check` and `warcio index` accept where there is
 * warcio.
 */
export function assertSoundWarc(t: Scope, warc: Uint8Array, records: number): void {
  const text = gunzipSync(warc).toString('latin1');
  assert.equal(text.match(/^WARC\/1\.1\r$/gm)?.length, records);
  if (!HAS_WARCIO) return;
  const file = join(tempFolder(t), 'a.warc.gz');
  writeFileSync(file, warc);
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync('warcio', [...args, file], { encoding: 'utf8' });
    assert.equal(status, 0, stdout + stderr);
    return stdout;
  };
  assert.equal(run('check', '-v').match(/digest pass/g)?.length, records);
  assert.equal(run('index').trim().split('\n').length, records);
}
