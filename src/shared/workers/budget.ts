/** Starts work in the order of the calls, as long as the sizes of all running work add up to no more than a limit. */
export class Budget {
  readonly #limit: number;
  #used = 0;
  readonly #waiting: { size: number; begin: () => void }[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Work larger than the limit runs alone. */
  async within<T>(size: number, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((begin) => {
      this.#waiting.push({ size, begin });
      this.#admit();
    });
    try {
      return await work();
    } finally {
      this.#used -= size;
      this.#admit();
    }
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next !== undefined && this.#fits(next.size); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#used += next.size;
      next.begin();
    }
  }

  #fits(size: number): boolean {
    return this.#used === 0 || this.#used + size <= this.#limit;
  }
}
