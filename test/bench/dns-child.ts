// Asks a server everything in a list so many times over, and prints on standard error how fast, and how much memory it held.
import { readFileSync } from 'node:fs';
import type { RecordType } from '../../src/records/probe/dns/message.ts';
import { createResolver } from '../../src/records/probe/resolver.ts';

const [port = '', file = '', rounds = '1'] = process.argv.slice(2);
const questions = readFileSync(file, 'utf8')
  .trim()
  .split('\n')
  .map((line) => line.split(' ') as [name: string, type: RecordType]);
const resolver = createResolver({ servers: [{ address: '127.0.0.1', port: Number(port) }] });
/** Callers that each wait for their answer before they ask again. */
const CALLERS = 200;

const rates: number[] = [];
const memory: number[] = [];
let unknown = 0;
for (let round = 0; round < Number(rounds); round++) {
  const left = questions.values();
  const start = performance.now();
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      for (const [name, type] of left) {
        const { status } = await resolver.ask(name, type);
        if (status !== 'ok' && status !== 'nodata' && status !== 'nxdomain') unknown++;
      }
    }),
  );
  rates.push(questions.length / ((performance.now() - start) / 1_000));
  memory.push(process.memoryUsage().rss);
}
resolver.close();
process.stderr.write(`${JSON.stringify({ rates, memory, unknown })}\n`);
