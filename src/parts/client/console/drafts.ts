/** A draft kept in the browser until its form is filed. */
interface Draft {
  /** When it was saved, in ms. */
  at: number;
  /** The revision on which it is based. */
  revision: string;
  /** The fields with one value each, and the rows of sources. */
  fields: Record<string, string>;
  sources: string[][];
}

/** Fields that only concern the server, and are not part of a draft. */
const OWN = new Set(['form', 'once', 'revision', 'do', 'take', 'theirs', 'picture', 'picture_alt']);

/** The draft of one piece in this browser. Without storage, nothing is saved and nothing fails. */
export class Drafts {
  #name: string;
  #waiting: ReturnType<typeof setTimeout> | undefined;

  #pending: (() => Omit<Draft, 'at'>) | null = null;

  constructor(name: string) {
    this.#name = `broadsheet ${name}`;
  }

  get(): Draft | null {
    try {
      const draft = JSON.parse(localStorage.getItem(this.#name) ?? 'null') as Draft | null;
      return draft !== null && typeof draft.fields === 'object' && Array.isArray(draft.sources) ? draft : null;
    } catch {
      return null;
    }
  }

  /** Saves a form after a short delay. */
  keep(draft: () => Omit<Draft, 'at'>): void {
    this.#pending = draft;
    clearTimeout(this.#waiting);
    this.#waiting = setTimeout(() => this.flush(), 400);
  }

  /** Saves a pending draft now. */
  flush(): void {
    if (this.#pending !== null) this.#put({ at: Date.now(), ...this.#pending() });
    this.#pending = null;
  }

  remove(): void {
    this.#pending = null;
    try {
      localStorage.removeItem(this.#name);
    } catch {
      // There is no storage.
    }
  }

  /** Continues under the name of the piece that was filed. */
  rename(name: string): void {
    this.#name = `broadsheet ${name}`;
  }

  #put(draft: Draft): void {
    try {
      localStorage.setItem(this.#name, JSON.stringify(draft));
    } catch {
      // There is no storage, or it is full.
    }
  }
}

/** The content of a form. */
export function contentOf(form: HTMLFormElement, sources: string[][]): Omit<Draft, 'at'> {
  const fields: Record<string, string> = {};
  for (const [name, value] of new FormData(form)) {
    if (typeof value === 'string' && !OWN.has(name) && !name.startsWith('fact_')) fields[name] = plain(value);
  }
  return {
    revision: form.dataset.revision ?? '',
    fields,
    sources: sources.filter((row) => row.some((text) => text !== '')),
  };
}

const plain = (text: string): string => text.replaceAll('\r\n', '\n');

/** Whether two forms have the same content. */
export const isSame = (a: Omit<Draft, 'at'>, b: Omit<Draft, 'at'>): boolean =>
  JSON.stringify([sorted(a.fields), a.sources]) === JSON.stringify([sorted(b.fields), b.sources]);

const sorted = (fields: Record<string, string>): [string, string][] =>
  Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
