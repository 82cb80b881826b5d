/** Jobs that wait. */
interface Line<Job> {
  readonly size: number;
  add(job: Job): void;
  /** Takes the job that is next; null when none waits. */
  take(): Job | null;
  /** Removes a job that waits no longer. Does nothing for any other. */
  remove(job: Job): void;
}

/** First come, first served. */
class Queue<Job> implements Line<Job> {
  readonly #jobs = new Set<Job>();

  get size(): number {
    return this.#jobs.size;
  }

  add(job: Job): void {
    this.#jobs.add(job);
  }

  take(): Job | null {
    for (const job of this.#jobs) {
      this.#jobs.delete(job);
      return job;
    }
    return null;
  }

  remove(job: Job): void {
    this.#jobs.delete(job);
  }
}

/** Names whom a job is done for. */
type Owner<Job> = (job: Job) => string;

/** Jobs that wait. Their owners take turns, however many jobs each has: papers, say, and within a paper its callers. */
export class Turns<Job> implements Line<Job> {
  readonly #owner: Owner<Job>;
  readonly #within: readonly Owner<Job>[];
  /** By owner, in the order of their turns. */
  readonly #lines = new Map<string, Line<Job>>();
  #size = 0;

  constructor(owner: Owner<Job>, ...within: Owner<Job>[]) {
    this.#owner = owner;
    this.#within = within;
  }

  get size(): number {
    return this.#size;
  }

  /** How many jobs of one owner wait, or of one within another. */
  sizeOf(owner: string, ...within: string[]): number {
    const line = this.#lines.get(owner);
    const [first, ...rest] = within;
    if (line instanceof Turns && first !== undefined) return line.sizeOf(first, ...rest);
    return line?.size ?? 0;
  }

  add(job: Job): void {
    const owner = this.#owner(job);
    let line = this.#lines.get(owner);
    if (line === undefined) {
      line = this.#newLine();
      this.#lines.set(owner, line);
    }
    const before = line.size;
    line.add(job);
    this.#size += line.size - before;
  }

  /** Takes the first job of the owner whose turn it is; null when none waits. That owner goes to the end of the line. */
  take(): Job | null {
    for (const [owner, line] of this.#lines) {
      const job = line.take();
      this.#lines.delete(owner);
      if (line.size > 0) this.#lines.set(owner, line);
      if (job === null) continue;
      this.#size--;
      return job;
    }
    return null;
  }

  remove(job: Job): void {
    const owner = this.#owner(job);
    const line = this.#lines.get(owner);
    if (line === undefined) return;
    const before = line.size;
    line.remove(job);
    this.#size -= before - line.size;
    if (line.size === 0) this.#lines.delete(owner);
  }

  #newLine(): Line<Job> {
    const [first, ...rest] = this.#within;
    return first === undefined ? new Queue() : new Turns(first, ...rest);
  }
}
