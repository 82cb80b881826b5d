/** Papers whose folders a starting server has not filed yet, so that their contents are still incomplete. */
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

  /** Marks the filing as finished: no folder is pending any more. */
  end(): void {
    this.#papers.clear();
  }
}
