import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { verify } from '@broadsheet/verify';
import { deskClient, rows } from 'broadsheet-client';

const { positionals, values } = parseArgs({ allowPositionals: true, options: { keys: { type: 'string' } } });
const [root] = positionals;
if (root === undefined) {
  console.error('verify: name a paper, as in node verify.js https://papers.example/the-quay');
  process.exit(2);
}

async function textOf(path) {
  const response = await fetch(`${root}/${path}`);
  if (!response.ok) throw new Error(`${response.url} answers ${response.status}`);
  return response.text();
}

const keys =
  values.keys === undefined ? await textOf('.well-known/newsdesk-keys.json') : readFileSync(values.keys, 'utf8');
const desk = deskClient({ root });
for await (const { slug } of rows('stories', (cursor) =>
  desk.GET('/api/v1/stories', { params: { query: { cursor } } }),
)) {
  const { holds, faults } = await verify(await textOf(`stories/${slug}/proof.json`), { keys });
  console.log(holds ? `${slug}: holds` : `${slug}: ${faults.join('; ')}`);
  if (!holds) process.exitCode = 1;
}
