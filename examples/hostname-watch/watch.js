import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { AheadOfStream, changes } from 'broadsheet-client';

const { RECORDS, KEY, CHAT, DOMAIN } = process.env;
if (!RECORDS || !KEY || !CHAT) {
  console.error('watch: set RECORDS, KEY and CHAT; see README.md');
  process.exit(2);
}

const LAST = 'last.txt';
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort());

function keep(seq) {
  writeFileSync(`${LAST}.new`, String(seq));
  renameSync(`${LAST}.new`, LAST);
}

async function tell(text) {
  const response = await fetch(CHAT, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ text }),
  });
  if (!response.ok) throw new Error(`the chat answers ${response.status}`);
}

const words = ({ domain, signal, kind, before, after }) =>
  `${domain}: ${signal} ${kind}: ${before.join(', ') || 'nothing'} → ${after.join(', ') || 'nothing'}`;

while (!stop.signal.aborted) {
  const after = existsSync(LAST) ? Number(readFileSync(LAST, 'utf8')) : undefined;
  try {
    for await (const change of changes({ root: RECORDS, key: KEY, domain: DOMAIN, after, signal: stop.signal })) {
      await tell(words(change));
      keep(change.seq);
    }
  } catch (error) {
    if (!(error instanceof AheadOfStream)) throw error;
    await tell(`the service was restored from a backup; changes after ${error.newest} follow`);
    keep(error.newest);
  }
}
