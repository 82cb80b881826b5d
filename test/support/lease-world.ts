import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';

/** A simulation in which time passes only when nothing else is left to do. */
export class World {
  now = 0;
  readonly #events: { at: number; run: () => void }[] = [];

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const event = { at: this.now + ms, run: resolve };
      this.#events.push(event);
      signal?.addEventListener('abort', () => {
        this.#events.splice(this.#events.indexOf(event) >>> 0, 1);
        reject(signal.reason);
      });
    });
  }

  async run(until: number): Promise<void> {
    while (this.now < until) {
      await turn();
      this.#events.sort((a, b) => a.at - b.at);
      const next = this.#events.shift();
      if (next === undefined) return;
      this.now = Math.max(this.now, next.at);
      next.run();
    }
  }
}

/** As in S3 and in a folder, the same bytes have the same ETag. */
export const etagOf = (text: string): string => (text === '' ? '' : createHash('md5').update(text).digest('hex'));
