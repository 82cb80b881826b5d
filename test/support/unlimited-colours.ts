// A thread that colours texts with Oniguruma's own limit on backtracking, and posts the results.
import { parentPort, workerData } from 'node:worker_threads';
import { codeColours } from '../../src/desk/press/code-colours.ts';
import { startOniguruma } from '../../src/desk/press/oniguruma.ts';

await startOniguruma(null);
const colours = [];
for (const prose of workerData as string[]) colours.push(await codeColours(prose));
parentPort?.postMessage(colours);
