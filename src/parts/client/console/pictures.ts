import type { EditorPicture } from '../../../desk/console/editor-view.ts';
import { elementOf } from '../element.ts';
import { failure, send } from './request.ts';

/** The largest picture to preview before it is uploaded, in bytes. */
const SHOWN_MAX = 8_000_000;

/** Asks for a picture's description, uploads the picture, and asks where to place it. */
export class Pictures {
  readonly #form: HTMLFormElement;
  readonly #dialog = elementOf('picturing', HTMLDialogElement);
  readonly #file = elementOf('new-picture', HTMLInputElement);
  readonly #alt = elementOf('new-alt', HTMLInputElement);
  readonly #said = elementOf('picturing-said', HTMLElement);
  readonly #shown = this.#dialog.querySelector('img') as HTMLImageElement;
  readonly #uploaded: (picture: { path: string; alt: string }, place: 'picture' | 'image') => void;

  constructor(
    form: HTMLFormElement,
    uploaded: (picture: { path: string; alt: string }, place: 'picture' | 'image') => void,
  ) {
    this.#form = form;
    this.#uploaded = uploaded;
    this.#file.addEventListener('change', () => this.#show());
    this.#dialog.querySelector('form')?.addEventListener('submit', (event) => {
      const place = (event.submitter as HTMLButtonElement | null)?.value;
      if (place !== 'picture' && place !== 'image') return;
      event.preventDefault();
      void this.#upload(place);
    });
  }

  /** Opens the dialog, optionally with a dropped or pasted picture. */
  ask(file?: File): void {
    const given = new DataTransfer();
    if (file !== undefined) given.items.add(file);
    this.#file.files = given.files;
    this.#alt.value = '';
    this.#said.textContent = '';
    this.#show();
    this.#dialog.showModal();
    (file === undefined ? this.#file : this.#alt).focus();
  }

  #show(): void {
    const [file] = this.#file.files ?? [];
    this.#shown.hidden = true;
    if (file === undefined || file.size > SHOWN_MAX || !file.type.startsWith('image/')) return;
    const reader = new FileReader();
    // The page's content security policy allows data URLs but no blob URLs.
    reader.addEventListener('load', () => {
      this.#shown.src = String(reader.result);
      this.#shown.hidden = false;
    });
    reader.readAsDataURL(file);
  }

  async #upload(place: 'picture' | 'image'): Promise<void> {
    const [file] = this.#file.files ?? [];
    const alt = this.#alt.value.trim();
    if (file === undefined) return this.#refuse('Choose a file.', this.#file);
    if (alt === '') return this.#refuse('Say what the picture shows.', this.#alt);
    this.#said.textContent = 'Uploading …';
    try {
      const answer = await send<EditorPicture>(this.#form, 'picture', { more: { picture: file, picture_alt: alt } });
      if ('message' in answer)
        return this.#refuse(answer.message, answer.field === 'picture_alt' ? this.#alt : this.#file);
      this.#dialog.close();
      this.#uploaded(answer, place);
    } catch (error) {
      this.#refuse(failure(error), this.#file);
    }
  }

  #refuse(message: string, field: HTMLElement): void {
    this.#said.textContent = message;
    field.focus();
  }
}
