// Writes the OpenAPI documents that the reference is made of, as a server of this checkout answers them.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
const DOCUMENTS = fileURLToPath(new URL('openapi/', import.meta.url));
const PAPER = 'the-plumb-line';
/** What the documents name as the addresses of a server. */
const ADDRESSES = { desk: 'https://papers.example', records: 'https://records.example' };

/** Writes `openapi/paper.json` and `openapi/records.json`. The checkout needs its dependencies installed. */
export async function writeDocuments() {
  const folder = mkdtempSync(join(tmpdir(), 'broadsheet-manual-'));
  cpSync(join(PROJECT, 'content', PAPER), join(folder, 'content', PAPER), { recursive: true });
  const env = {
    ...process.env,
    DATA_DIR: join(folder, 'var'),
    CONTENT_DIR: join(folder, 'content'),
    DIST_DIR: join(folder, 'papers'),
    LOG_DIR: join(folder, 'log'),
    PORT: '0',
    RECORDS_PORT: '0',
    SCANNER: 'off',
    ORIGIN: ADDRESSES.desk,
    DATA_ORIGIN: ADDRESSES.records,
  };
  const server = spawn(process.execPath, [join(PROJECT, 'bin/broadsheet.mjs'), 'serve'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => server.on('exit', resolve));
  try {
    const { desk, records } = await addresses(server);
    mkdirSync(DOCUMENTS, { recursive: true });
    await save(`${desk}/${PAPER}/api/v1/openapi.json`, 'paper.json', 'The API of a paper');
    await save(`${records}/v1/openapi.json`, 'records.json', 'Domain records');
  } finally {
    server.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
}

async function addresses(server) {
  for await (const line of createInterface({ input: server.stdout })) {
    const found = /^ready desk=(\S+) records=(\S+)/.exec(line);
    if (found !== null) return { desk: found[1], records: found[2] };
  }
  throw new Error('the server ended before it was ready; run npm ci and npm start in the checkout to see why');
}

/** Saves a document under the title of the reference. */
async function save(url, name, title) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  const { info, ...document } = await answer.json();
  const { contact, ...common } = info;
  const text = JSON.stringify({ ...document, info: { ...common, title } });
  writeFileSync(join(DOCUMENTS, name), text.replaceAll(PAPER, 'the-paper').replaceAll('The Plumb Line', 'The Paper'));
}
