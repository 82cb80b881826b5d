import { invertedEffects } from '@codemirror/commands';
import { StateEffect } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { markersIn, orderCited, renumbering } from '../../../desk/door/markers.ts';
import { elementOf } from '../element.ts';
import type { ProseText } from './text.ts';

/** A change of the rows' order. Undoing a change of the text also restores the order of its sources. */
const ordered = StateEffect.define<{ before: HTMLElement[]; after: HTMLElement[] }>();

const SUFFIX = /^fact-\d+-/;

/** The sources of a piece: their rows in the form, and the markers that cite them. */
export class Sources {
  readonly #list = elementOf('sources', HTMLOListElement);
  readonly #template = elementOf('new-source', HTMLOListElement);
  readonly #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Extensions of the editor that keep rows and markers in step. */
  readonly extensions = [
    invertedEffects.of(({ effects }) =>
      effects.flatMap((effect) =>
        effect.is(ordered) ? [ordered.of({ before: effect.value.after, after: effect.value.before })] : [],
      ),
    ),
    EditorView.updateListener.of(({ transactions }) => {
      for (const { effects } of transactions) {
        for (const effect of effects) if (effect.is(ordered)) this.#arrange(effect.value.before, effect.value.after);
      }
    }),
  ];

  get rows(): HTMLElement[] {
    return [...this.#list.querySelectorAll<HTMLElement>('.source')];
  }

  /** The fields of a row in their order: statement, publisher, document, fact record. */
  fieldsOf(row: Element): (HTMLInputElement | HTMLTextAreaElement)[] {
    return [...row.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('input, textarea')];
  }

  /** Cites a source at the cursor: number `n` of the list, or if null, a new one, which gets a row. */
  cite(prose: ProseText, n: number | null): void {
    const before = this.rows;
    // A row that is neither filled in nor cited is used for the new source.
    const cited = new Set(markersIn(prose.text).map((marker) => marker.n));
    const free = before.findIndex((row, index) => this.#isBlank(row) && !cited.has(index + 1));
    const row = n === null && free === -1 ? this.#made() : null;
    const rows = row === null ? before : [...before, row];
    const number = n ?? (free === -1 ? rows.length : free + 1);
    const at = prose.view.state.selection.main.to;
    const marked = `${prose.text.slice(0, at)}[^${number}]${prose.text.slice(at)}`;
    const order = orderCited(marked, rows.length);
    const numbers = new Map(order.map((old, index) => [old, index + 1]));
    const marker = `[^${numbers.get(number) ?? number}]`;
    const others = renumbering(prose.text, (old) => numbers.get(old) ?? old);
    const shift = others.reduce((sum, one) => (one.to <= at ? sum + one.insert.length - (one.to - one.from) : sum), 0);
    prose.change({
      changes: [...others, { from: at, insert: marker }],
      selection: { anchor: at + shift + marker.length },
      effects: ordered.of({ before, after: order.flatMap((old) => rows[old - 1] ?? []) }),
      userEvent: 'input',
    });
    const made = rows[number - 1];
    if (n === null && made !== undefined) this.fieldsOf(made)[0]?.focus();
  }

  /** Numbers the sources in the order in which the text first cites them. */
  renumber(prose: ProseText): void {
    this.#reorder(prose, orderCited(prose.text, this.rows.length));
  }

  /** Removes a source and its markers. */
  remove(prose: ProseText, row: Element): void {
    const rows = this.rows;
    this.#reorder(
      prose,
      rows.flatMap((one, index) => (one === row ? [] : index + 1)),
    );
    const next = this.rows[Math.min(rows.indexOf(row as HTMLElement), this.rows.length - 1)];
    (next?.querySelector<HTMLElement>('button') ?? document.querySelector<HTMLElement>('[value="add"]'))?.focus();
  }

  /** Adds an empty row at the end. */
  add(): void {
    const row = this.#made();
    this.#list.append(row);
    this.#number();
    this.fieldsOf(row)[0]?.focus();
  }

  /** Replaces all rows by these values. */
  fill(values: readonly string[][]): void {
    const rows = values.map((texts) => {
      const row = this.#made();
      for (const [index, field] of this.fieldsOf(row).entries()) field.value = texts[index] ?? '';
      return row;
    });
    this.#list.replaceChildren(...rows);
    this.#number();
  }

  /** Shows beside each source how often the text cites it. */
  count(prose: string): void {
    const times = new Map<number, number>();
    for (const { n } of markersIn(prose)) times.set(n, (times.get(n) ?? 0) + 1);
    for (const [index, row] of this.rows.entries()) {
      const found = times.get(index + 1) ?? 0;
      const words =
        this.#isBlank(row) && found === 0
          ? ''
          : found === 0
            ? 'not cited yet'
            : found === 1
              ? 'cited once'
              : `cited ${found} times`;
      const place = row.querySelector('.cited');
      if (place !== null && place.textContent !== words) place.textContent = words;
    }
  }

  #isBlank(row: Element): boolean {
    return this.fieldsOf(row).every(({ value }) => value.trim() === '');
  }

  #made(): HTMLElement {
    return this.#template.children[0]?.cloneNode(true) as HTMLElement;
  }

  #reorder(prose: ProseText, order: number[]): void {
    const before = this.rows;
    const numbers = new Map(order.map((old, index) => [old, index + 1]));
    const isSource = (n: number) => n >= 1 && n <= before.length;
    prose.view.dispatch({
      changes: renumbering(prose.text, (n) => (isSource(n) ? (numbers.get(n) ?? null) : n)),
      effects: ordered.of({ before, after: order.flatMap((n) => before[n - 1] ?? []) }),
      userEvent: 'input',
    });
  }

  /** Sorts rows. Rows added after `before` was taken stay at the end. */
  #arrange(before: HTMLElement[], after: HTMLElement[]): void {
    const since = this.rows.filter((row) => !before.includes(row) && !after.includes(row));
    this.#list.replaceChildren(...after, ...since);
    this.#number();
  }

  /** Sets every row's number, names and ids to match its position. */
  #number(): void {
    for (const [index, row] of this.rows.entries()) {
      const n = index + 1;
      row.setAttribute('aria-label', `Source ${n}`);
      const number = row.querySelector('.number');
      if (number !== null) number.textContent = String(n);
      for (const element of row.querySelectorAll<HTMLElement>('[id]')) {
        element.id = element.id.replace(SUFFIX, `fact-${n}-`);
        const described = element.getAttribute('aria-describedby');
        if (described !== null) element.setAttribute('aria-describedby', described.replace(SUFFIX, `fact-${n}-`));
      }
      for (const label of row.querySelectorAll('label')) label.htmlFor = label.htmlFor.replace(SUFFIX, `fact-${n}-`);
      const button = row.querySelector('button');
      if (button === null) continue;
      button.value = `remove-${n}`;
      button.setAttribute('aria-label', `Remove source ${n} and its markers`);
    }
    this.#changed();
  }
}
