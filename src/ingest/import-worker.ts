import { parentPort, workerData } from 'node:worker_threads';
import { Fault, messageOf } from '../fault.ts';
import { parsedBatches } from './import-lines.ts';
import type { ReaderMessage } from './import-reader.ts';

// The thread behind `readAhead`: parses the next batch of lines for each message. It may be terminated at any time.

const batches = parsedBatches(workerData as string)[Symbol.asyncIterator]();
const send = (message: ReaderMessage): void => parentPort?.postMessage(message);

parentPort?.on('message', async () => {
  try {
    const { value, done } = await batches.next();
    send({ batch: done ? null : value });
  } catch (error) {
    const [code, details] = error instanceof Fault ? [error.code, error.details] : [null, {}];
    send({ failure: { code, message: messageOf(error), details } });
  }
});
