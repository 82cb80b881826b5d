import { Agent, get } from 'node:http';

// Callers that request the given routes in turn and never pause, in their own process. Prints the p99 of each route in ms.

const [, , url = '', callers = '', span = '', ...paths] = process.argv;
const took = new Map<string, number[]>(paths.map((path) => [path, []]));
const agent = new Agent({ keepAlive: true });
const until = performance.now() + Number(span);

function answer(path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    get(`${url}${path}`, { agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${path} answered ${response.statusCode}`));
      response.resume().once('end', resolve);
    }).once('error', reject);
  });
}

async function caller(first: number): Promise<void> {
  for (let n = first; performance.now() < until; n++) {
    const path = paths[n % paths.length] ?? '';
    const start = performance.now();
    await answer(path);
    took.get(path)?.push(performance.now() - start);
  }
}

await Promise.all(Array.from({ length: Number(callers) }, (_, n) => caller(n)));
agent.destroy();
const p99 = (times: number[]) => times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN;
process.stdout.write(JSON.stringify([...took.values()].map(p99)));
