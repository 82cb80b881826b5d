import { on } from 'node:events';
import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { codeOf, Fault, type FaultCode } from '../fault.ts';
import type { ParsedLine } from './import-lines.ts';
import { parsedBatches } from './import-lines.ts';

/** A smaller file, in bytes, is parsed before a thread would have started. */
const SMALL = 100_000;
/** How many batches the thread parses before they are filed. */
const AHEAD = 2;

/** The thread's message: the next batch, null after the last one, or why there is none. */
export type ReaderMessage =
  | { batch: ParsedLine[] | null }
  | { failure: { code: FaultCode | null; message: string; details: Record<string, unknown> } };

/**
 * The lines of an archive in batches, parsed on another thread while the batch before them is filed. Throws
 * `invalid_request` for damaged data.
 */
export async function* readAhead(file: string): AsyncIterable<ParsedLine[]> {
  if (statSync(file).size < SMALL) return yield* parsedBatches(file);
  const worker = new Worker(new URL('./import-worker.ts', import.meta.url), {
    workerData: file,
    resourceLimits: { maxYoungGenerationSizeMb: 48, maxOldGenerationSizeMb: 512 },
  });
  try {
    for (let asked = 0; asked < AHEAD; asked++) worker.postMessage('next');
    for await (const [message] of on(worker, 'message', { close: ['exit'] }) as AsyncIterable<[ReaderMessage]>) {
      if ('failure' in message) throw thrown(message.failure);
      if (message.batch === null) return;
      worker.postMessage('next');
      yield message.batch;
    }
    throw new Fault('unavailable', 'the thread that reads the archive ended early; run the import again');
  } catch (error) {
    if (codeOf(error) !== 'ERR_WORKER_OUT_OF_MEMORY') throw error;
    throw new Fault(
      'invalid_request',
      `a line of ${file} takes too much memory to read; put each piece on a line of its own`,
    );
  } finally {
    await worker.terminate();
  }
}

function thrown({ code, message, details }: Extract<ReaderMessage, { failure: unknown }>['failure']): Error {
  return code === null ? new Error(message) : new Fault(code, message, details);
}
