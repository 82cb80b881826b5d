import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { Proof } from '../../src/proof/proof.ts';
import { tempFolder } from '../support/app-context.ts';
import { freePort } from '../support/free-port.ts';
import { startOmniwitness, without } from '../support/log-peers.ts';
import { run, serve, until } from '../support/program.ts';
import { enterPapers } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { openBrowser } from './chromium.ts';

const program = promisify(execFile);
const needed = without('omniwitness', 'generate_keys', 'tlog-verify');
const STORY = '/tide-table/stories/high-water/';

test('a stranger with a paper’s address and the policy can prove that a story was public', {
  skip: ONLY_WIDE || needed,
}, async (t) => {
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: 'tide-table' }]);
  const ports = { PORT: String(await freePort()), RECORDS_PORT: String(await freePort()) };
  const before = await serve(t, folder, ports);
  const vkey = await until(() => textAt(`${before.url}/log/vkey`));
  const [origin = ''] = vkey.split('+');
  assert.equal(JSON.parse((await textAt(`${before.url}${STORY}proof.json`)) ?? '').log, null, 'no witness, no proof');
  await before.stop();

  const witness = await startOmniwitness(t, tempFolder(t), { origin, vkey: vkey.trim() });
  const policy = join(folder, 'policy');
  writeFileSync(policy, `witness omni ${witness.vkeys[0]} ${witness.url}\nquorum omni\n`);
  const { url, stop } = await serve(t, folder, { ...ports, LOG_POLICY: policy });
  const proof = await until(async () => {
    const read = JSON.parse((await textAt(`${url}${STORY}proof.json`)) ?? '') as Proof;
    return read.log == null ? null : read;
  });

  const theirs = tempFolder(t);
  const file = (name: string, text: string): string => {
    writeFileSync(join(theirs, name), text);
    return join(theirs, name);
  };
  const published = file('policy', (await textAt(`${url}/log/policy`)) ?? '');
  const text = file('proof', proof.log?.tlog_proof ?? '');
  await program('tlog-verify', ['proof', published, text, file('leaf', proof.receipt)]);
  await assert.rejects(program('tlog-verify', ['proof', published, text, file('leaf', `${proof.receipt}\n`)]));
  await program('tlog-verify', ['log', published, `${url}/log/`]);
  const verified = await run(t, theirs, ['verify', `${url}${STORY}`, '--policy', published]);
  assert.equal(verified.code, 0, verified.stdout);
  assert.match(verified.stdout, /omni/);

  const browser = await openBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage();
  await page.goto(url + STORY);
  await page.locator('#verify button').click();
  await page.getByText('All checks hold').waitFor();
  assert.match((await page.locator('#verify').textContent()) ?? '', /Witnesses have signed that head: “omni” on /);
  await page.goto(`${url}/log/`);
  assert.match((await page.locator('.log').textContent()) ?? '', /Yes, this head/);
  await stop();
});

/** The text at an address; null while there is none. */
async function textAt(address: string): Promise<string | null> {
  const response = await fetch(address);
  return response.ok ? response.text() : null;
}
