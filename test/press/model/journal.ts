import { appendFileSync } from 'node:fs';

/** One promise that did not hold. */
export interface Difference {
  /** What kind of promise it was; a soak names each kind once. */
  kind: string;
  text: string;
  /** ms since the run began. */
  at: number;
}

/**
 * What every actor did and was answered, with the time of each: processes run
 * beside each other, so a seed alone does not bring a run back.
 */
export class Journal {
  readonly file: string;
  readonly differences: Difference[] = [];
  /** How many promises were held against the disk. */
  looks = 0;
  steps = 0;
  readonly #start = Date.now();

  constructor(file: string) {
    this.file = file;
  }

  step(actor: string, what: string): void {
    this.steps++;
    this.#write(`${actor}: ${what}`);
  }

  /** Notes what a look found; nothing when all of it holds. */
  looked(actor: string, kind: string, promise: string, faults: readonly string[]): void {
    this.looks++;
    if (faults.length === 0) return;
    const text = `${actor}: ${promise}, but ${faults.slice(0, 8).join('; ')}`;
    this.differences.push({ kind, text, at: Date.now() - this.#start });
    this.#write(`DIFFERENCE (${kind}) ${text}`);
  }

  #write(line: string): void {
    appendFileSync(this.file, `${String(Date.now() - this.#start).padStart(7)} ${line}\n`);
  }
}
