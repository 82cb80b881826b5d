import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { tempFolder } from '../support/app-context.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const OPEN = `const { openBrowser } = await import(${JSON.stringify(new URL('chromium.ts', import.meta.url))});
  const browser = await openBrowser();
  process.stdout.write(browser.version());
  await browser.close();`;

test('processes that open a machine’s first browser concurrently all get one', { skip: ONLY_WIDE }, async (t) => {
  // Where npm brings the browser, it is unpacked there.
  const env = { ...process.env, TMPDIR: tempFolder(t) };
  const opened = await Promise.all(
    Array.from({ length: ONLY_WIDE === false ? 4 : 2 }, () =>
      promisify(execFile)(process.execPath, ['--input-type=module', '-e', OPEN], { env }),
    ),
  );
  const versions = opened.map(({ stdout }) => stdout);
  assert.match(versions[0] ?? '', /^\d+\./);
  assert.deepEqual(new Set(versions).size, 1);
});
