import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../support/app-context.ts';
import { serveDev } from '../support/dev-server.ts';
import { ask } from '../support/http.ts';
import { run, serve, until } from '../support/program.ts';
import { ONLY_WIDE } from '../support/wide.ts';

// A push plays the README's tour, and has a test of each of these commands and of the writing desk.
test('a newcomer’s first hour: a new paper, written at the desk, filed, served, and taken away', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const made = await run(t, folder, [
    'new',
    'the-quay',
    '--url',
    'https://quay.example',
    '--persona',
    'Ada Holm, Editor',
  ]);
  assert.deepEqual([made.code, made.stderr], [0, '']);

  // At the desk the piece is changed, and the page shows it; nothing is filed.
  const { url, child, ended } = await serveDev(t, folder);
  const sample = join(folder, 'content/the-quay/stories/how-to-write-a-day.md');
  const page = async (at: string, path: string, headers = {}) => (await ask(at, path, headers)).text;
  assert.match(await page(url, '/the-quay/'), /href="\/the-quay\/stories\/how-to-write-a-day\/"/);
  const text = readFileSync(sample, 'utf8')
    .replace(/^headline: .*/m, 'headline: The first ferry')
    .replace(/^air: false\n/m, '');
  writeFileSync(sample, text);
  await until(async () =>
    (await page(url, '/the-quay/stories/how-to-write-a-day/')).includes('The first ferry') ? true : null,
  );
  child.kill('SIGTERM');
  await ended;

  // The imprint is filled in, and named in the paper's record.
  const imprint = join(folder, 'content/the-quay/pages/imprint.md');
  writeFileSync(
    imprint,
    readFileSync(imprint, 'utf8')
      .replace(/^# Fill in .*\n/m, '')
      .replace(/⟦.*⟧/g, 'the harbour office'),
  );
  const record = join(folder, 'content/the-quay/paper.yaml');
  writeFileSync(record, readFileSync(record, 'utf8').replace(/^# imprint:/m, 'imprint:'));

  const { url: host, said } = await serve(t, folder);
  await until(async () => ((await ask(host, '/the-quay/')).status === 200 ? true : null));
  assert.match(await page(host, '/the-quay/'), /The first ferry/);
  assert.match(await page(host, '/the-quay/', { host: 'quay.example' }), /./);
  for (const path of ['about/', 'imprint/', 'masthead/ada-holm/', 'stories/how-to-write-a-day/'])
    assert.equal((await ask(host, `/the-quay/${path}`)).status, 200, path);
  // A second piece, filed while the server runs.
  const second = join(folder, 'content/the-quay/stories/the-second-ferry.md');
  writeFileSync(second, text.replace('The first ferry', 'The second ferry'));
  const filed = await run(t, folder, ['file']);
  assert.equal(filed.code, 0, filed.stderr);
  assert.match(filed.stdout, /^filed the-quay\/stories\/the-second-ferry\.md\n1 filed, 4 unchanged, 0 refused\n/);
  await until(async () => ((await page(host, '/the-quay/')).includes('The second ferry') ? true : null));

  assert.equal((await run(t, folder, ['paper', 'remove', 'the-quay', '--yes'])).code, 0);
  assert.equal((await ask(host, '/the-quay/')).status, 410);
  assert.equal(said.stderr, '');
});
