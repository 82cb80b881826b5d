/** Papers whose folders are yet to be filed, from a server's start on: what it shows of them is not all that there is. */
export class PendingFolders {
  readonly #papers: Set<string>;

  constructor(papers: Iterable<string> = []) {
    this.#papers = new Set(papers);
  }

  has(paper: string): boolean {
    return this.#papers.has(paper);
  }

  get papers(): Iterable<string> {
    return this.#papers;
  }

  get isEmpty(): boolean {
    return this.#papers.size === 0;
  }

  done(paper: string): void {
    this.#papers.delete(paper);
  }

  /** Nothing more is filed. */
  end(): void {
    this.#papers.clear();
  }
}
