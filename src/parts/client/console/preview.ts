import type { EditorCheck } from '../../../desk/console/editor-view.ts';
import { elementOf } from '../element.ts';
import { failure, send } from './request.ts';

/** How long nothing must be typed before the door is asked, in ms. */
const PAUSE = 700;

/** Sends the text to the door, one request at a time, and shows the page in its response. */
export class Preview {
  readonly #form: HTMLFormElement;
  readonly #frame = elementOf('page', HTMLIFrameElement);
  readonly #checked: (check: EditorCheck) => void;
  readonly #failed: (message: string) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: AbortController | null = null;
  /** The stylesheets of the page shown in the frame. */
  #styles = '';

  constructor(form: HTMLFormElement, on: { checked(check: EditorCheck): void; failed(message: string): void }) {
    this.#form = form;
    this.#checked = on.checked;
    this.#failed = on.failed;
    // The page is only for reading: following a link in it would leave the editor.
    this.#frame.addEventListener('load', () => {
      this.#frame.contentDocument?.addEventListener('click', (event) => {
        const link = (event.target as Element).closest('a');
        if (link !== null && !link.hash) event.preventDefault();
      });
    });
  }

  /** Asks once nothing has been typed for a while. */
  soon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.now(), PAUSE);
  }

  /** Asks now. Aborts a running request: only the newest counts. */
  async now(): Promise<EditorCheck | null> {
    clearTimeout(this.#timer);
    this.#running?.abort();
    const running = new AbortController();
    this.#running = running;
    try {
      const check = await send<EditorCheck>(this.#form, 'check', { signal: running.signal });
      if (running.signal.aborted) return null;
      this.#checked(check);
      this.#show(check.html);
      return check;
    } catch (error) {
      if (!running.signal.aborted) this.#failed(failure(error));
      return null;
    }
  }

  /** Replaces the frame's content without a flash, and keeps its scroll position. */
  #show(html: string): void {
    const frame = this.#frame;
    const made = new DOMParser().parseFromString(html, 'text/html');
    const styles = [...made.querySelectorAll('link[rel="stylesheet"]')]
      .map((link) => link.getAttribute('href'))
      .join(' ');
    const shown = frame.contentDocument;
    frame.hidden = false;
    document.getElementById('no-page')?.remove();
    if (styles !== this.#styles || shown?.body === null || shown === null) {
      this.#styles = styles;
      frame.srcdoc = html;
      return;
    }
    shown.documentElement.lang = made.documentElement.lang;
    shown.documentElement.dir = made.documentElement.dir;
    shown.body.replaceChildren(...[...made.body.childNodes].map((node) => shown.adoptNode(node)));
  }
}
