/** Maximum bytes of files in memory; a larger file is handled alone. */
const BYTES_IN_FLIGHT = 32 * 1024 * 1024;

/** Lets work begin while what is in flight fits into memory. */
export class ByteBudget {
  #used = 0;
  readonly #waiting: { size: number; begin: () => void }[] = [];

  /** Works when there is room for so many bytes, in the order of the calls. */
  async within<T>(size: number, work: () => Promise<T>): Promise<T> {
    if (this.#waiting.length > 0 || !this.#fits(size)) {
      await new Promise<void>((begin) => this.#waiting.push({ size, begin }));
    } else this.#used += size;
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
    return this.#used === 0 || this.#used + size <= BYTES_IN_FLIGHT;
  }
}
