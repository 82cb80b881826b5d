/** Jobs that wait. Papers take turns, however many jobs each has. */
export class Turns<Job extends { readonly paper: string }> {
  /** By paper, in the order of the papers' turns. */
  readonly #waiting = new Map<string, Job[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** How many jobs of one paper wait. */
  sizeOf(paper: string): number {
    return this.#waiting.get(paper)?.length ?? 0;
  }

  add(job: Job): void {
    const own = this.#waiting.get(job.paper);
    if (own === undefined) this.#waiting.set(job.paper, [job]);
    else own.push(job);
    this.#size++;
  }

  /** Takes the first job of the paper whose turn it is; null when none waits. That paper goes to the end of the line. */
  take(): Job | null {
    for (const [paper, jobs] of this.#waiting) {
      const job = jobs.shift();
      this.#waiting.delete(paper);
      if (jobs.length > 0) this.#waiting.set(paper, jobs);
      if (job === undefined) continue;
      this.#size--;
      return job;
    }
    return null;
  }

  /** Removes a job that waits no longer. Does nothing for any other. */
  remove(job: Job): void {
    const own = this.#waiting.get(job.paper);
    const at = own?.indexOf(job) ?? -1;
    if (own === undefined || at === -1) return;
    own.splice(at, 1);
    if (own.length === 0) this.#waiting.delete(job.paper);
    this.#size--;
  }
}
