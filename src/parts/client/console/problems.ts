import type { EditorProblem } from '../../../desk/console/editor-fields.ts';
import { elementOf } from '../element.ts';
import type { ProseText } from './text.ts';

/** Shows the problems that the door reports: beside each field, in the text, and as a list. */
export class Problems {
  readonly #prose: ProseText;
  readonly #panel = elementOf('problems', HTMLElement);
  /** The ids of fields that were changed or left. Problems of other fields are not shown until filing. */
  readonly #touched = new Set<string>();
  #all: EditorProblem[] = [];

  constructor(prose: ProseText, form: HTMLFormElement) {
    this.#prose = prose;
    const touch = ({ target }: Event) => {
      if (!(target instanceof HTMLElement) || target.id === '' || this.#touched.has(target.id)) return;
      this.#touched.add(target.id);
      this.#atFields();
    };
    form.addEventListener('change', touch);
  }

  /** Shows problems; with `all`, also of fields that were not touched yet. Returns their number. */
  show(problems: EditorProblem[], all: boolean): number {
    this.#all = problems;
    for (const { input } of all ? problems : []) if (input !== null) this.#touched.add(input);
    this.#prose.mark(
      problems.flatMap(({ input, offset, message }) =>
        input === 'prose' && offset !== undefined ? { offset, message } : [],
      ),
    );
    this.#atFields();
    this.#list();
    return problems.length;
  }

  /** Lists facts of the record that sources may refer to. */
  hint(hints: EditorProblem[]): void {
    const panel = elementOf('hints', HTMLElement);
    panel.hidden = hints.length === 0;
    panel.querySelector('ul')?.replaceChildren(...hints.map((hint) => this.#item(hint)));
  }

  /** Moves the focus to the list. */
  focus(): void {
    this.#panel.focus();
  }

  #atFields(): void {
    const messages = new Map<string, string[]>();
    for (const { input, message } of this.#all) {
      if (input === null || (input !== 'prose' && !this.#touched.has(input))) continue;
      messages.set(input, [...(messages.get(input) ?? []), message]);
    }
    for (const place of document.querySelectorAll<HTMLElement>('.editor .problem[id$="-problem"]')) {
      const input = place.id.slice(0, -'-problem'.length);
      const found = messages.get(input) ?? [];
      const field = document.getElementById(input);
      if (input === 'prose') {
        this.#prose.setInvalid(found.length > 0);
        place.replaceChildren();
        continue;
      }
      const text = found.join('; ');
      if (place.textContent !== text) place.textContent = text;
      if (text === '') field?.removeAttribute('aria-invalid');
      else if (field?.matches('input, select, textarea')) field.setAttribute('aria-invalid', 'true');
    }
  }

  #list(): void {
    const count = this.#all.length;
    const title = elementOf('problems-title', HTMLElement);
    const heading =
      count === 0 ? 'Nothing keeps it from being filed' : `${count} ${count === 1 ? 'problem' : 'problems'}`;
    if (title.textContent !== heading) title.textContent = heading;
    this.#panel.hidden = false;
    this.#panel.querySelector('ul')?.replaceChildren(...this.#all.map((problem) => this.#item(problem)));
  }

  #item(problem: EditorProblem): HTMLLIElement {
    const item = document.createElement('li');
    const way = document.createElement(problem.input === null ? 'b' : 'a');
    way.textContent = this.#named(problem);
    if (way instanceof HTMLAnchorElement) {
      way.href = `#${problem.input}`;
      way.addEventListener('click', (event) => this.#go(event, problem));
    }
    item.append(way, ` ${problem.message}`);
    return item;
  }

  #named({ input, label, offset }: EditorProblem): string {
    if (input !== 'prose' || offset === undefined) return label;
    return `${label}, line ${this.#prose.lineOf(offset)}`;
  }

  #go(event: Event, { input, offset }: EditorProblem): void {
    event.preventDefault();
    if (input === 'prose') return this.#prose.jump(offset ?? 0);
    const field = document.getElementById(input ?? '');
    const details = field?.closest('details');
    if (details) details.open = true;
    field?.focus();
  }
}
