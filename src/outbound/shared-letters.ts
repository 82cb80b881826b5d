import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Letter, RenderMail } from './letter.ts';
import { mailOf } from './letter.ts';
import type { Mail, MailJob } from './mail.ts';

/** The number of cached letters. */
const KEPT = 64;

/** Caches letters to many people: each is rendered once, and its copies differ only in their own links. */
export class SharedLetters {
  readonly #render: RenderMail;
  /** Placeholder for a reader's token in cached letters. No piece can contain it. */
  readonly #blank = `reader-${randomBytes(16).toString('hex')}`;
  readonly #rendered = new LRUCache<string, Promise<{ letter: Letter; html: string } | null>>({ max: KEPT });

  constructor(render: RenderMail) {
    this.#render = render;
  }

  /**
   * A reader's copy of the letter with a key; null when there is nothing to write. `write` gets the token for its
   * links.
   */
  async copyFor(
    job: MailJob,
    to: string,
    { key, token, write }: { key: string; token: () => string; write: (token: string) => Letter | null },
  ): Promise<Mail | null> {
    let rendering = this.#rendered.get(key);
    if (rendering === undefined) {
      rendering = this.#renderOnce(write);
      this.#rendered.set(key, rendering);
      // Failed letters are rendered again the next time.
      rendering.catch(() => this.#rendered.delete(key));
    }
    const rendered = await rendering;
    if (rendered === null) return null;
    const own = token();
    const filled = (text: string) => text.replaceAll(this.#blank, own);
    const { text, headers, ...mail } = mailOf(job, to, rendered.letter, filled(rendered.html));
    return {
      ...mail,
      text: filled(text),
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, filled(value)])),
    };
  }

  async #renderOnce(write: (token: string) => Letter | null) {
    const letter = write(this.#blank);
    return letter === null ? null : { letter, html: await this.#render(letter.content) };
  }
}
