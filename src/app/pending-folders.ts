/** Papers whose folders are still to be filed after a server's start: what it shows of them is incomplete. */
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

  /** Ends filing: nothing is pending any more. */
  end(): void {
    this.#papers.clear();
  }
}
