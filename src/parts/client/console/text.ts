import {
  cursorCharLeft,
  cursorCharRight,
  cursorDocEnd,
  cursorDocStart,
  cursorGroupLeft,
  cursorGroupRight,
  cursorLineBoundaryBackward,
  cursorLineBoundaryForward,
  cursorLineBoundaryLeft,
  cursorLineBoundaryRight,
  cursorLineDown,
  cursorLineUp,
  cursorPageDown,
  cursorPageUp,
  deleteGroupBackward,
  deleteGroupForward,
  history,
  historyKeymap,
  insertNewline,
  selectAll,
  selectCharLeft,
  selectCharRight,
  selectDocEnd,
  selectDocStart,
  selectGroupLeft,
  selectGroupRight,
  selectLineBoundaryBackward,
  selectLineBoundaryForward,
  selectLineBoundaryLeft,
  selectLineBoundaryRight,
  selectLineDown,
  selectLineUp,
  selectPageDown,
  selectPageUp,
} from '@codemirror/commands';
import { EditorSelection, EditorState, StateEffect, StateField, type TransactionSpec } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  EditorView,
  type KeyBinding,
  keymap,
  MatchDecorator,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view';
import { continueMarkup, deleteChar } from './markup.ts';

/** A place in the text that a rule of the door names. */
export interface Mark {
  offset: number;
  message: string;
}

const setMarks = StateEffect.define<Mark[]>();

/** Underlines from each mark's offset to the end of its word, moved by what is typed until the next answer. */
const marks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(before, { effects, changes, state }) {
    const given = effects.find((effect) => effect.is(setMarks));
    if (given === undefined) return before.map(changes);
    // Several rules may name one place.
    const messages = new Map<number, string>();
    for (const { offset, message } of given.value as Mark[])
      messages.set(offset, [messages.get(offset), message].filter(Boolean).join('; '));
    const ranges = [...messages].flatMap(([offset, message]) => {
      const from = Math.min(offset, state.doc.length);
      const line = state.doc.lineAt(from);
      const [found = ''] = /^(?:\[\^[^\]]*\]|\S+)/.exec(line.text.slice(from - line.from)) ?? [];
      const to = from + found.length;
      return to === from
        ? []
        : Decoration.mark({ class: 'problem-here', attributes: { title: message } }).range(from, to);
    });
    return Decoration.set(ranges, true);
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** What Markdown means, by the class of the group that matches. It only colours: the door's own grammar decides. */
const MARKUP =
  /^(?<heading>#{1,6} .*$)|^(?<quote> {0,3}>.*$)|^(?<bullet> *(?:[-*+]|\d{1,9}[.)]) )|(?<marker>\[\^[^\s[\]\\]{1,64}\]:?)|(?<code>`[^`]+`)|(?<strong>\*\*[^*\s](?:[^*]*[^*\s])?\*\*)|(?<em>\*[^*\s](?:[^*]*[^*\s])?\*|(?<!\w)_[^_\s](?:[^_]*[^_\s])?_(?!\w))|(?<link>!?\[[^\][]*\]\([^()\s]*\))/g;

const highlighter = new MatchDecorator({
  regexp: MARKUP,
  decorate(add, from, to, { groups = {} }) {
    for (const [name, text] of Object.entries(groups)) {
      if (text !== undefined) add(from, to, Decoration.mark({ class: `md-${name}` }));
    }
  },
});

const highlighting = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = highlighter.createDeco(view);
    }
    update(update: ViewUpdate) {
      this.decorations = highlighter.updateDeco(update, this.decorations);
    }
  },
  { decorations: ({ decorations }) => decorations },
);

/** The keys of a text field, as CodeMirror's own table has them, without those that need a parser. */
const KEYS: KeyBinding[] = [
  { key: 'ArrowLeft', run: cursorCharLeft, shift: selectCharLeft, preventDefault: true },
  { key: 'Mod-ArrowLeft', mac: 'Alt-ArrowLeft', run: cursorGroupLeft, shift: selectGroupLeft },
  { mac: 'Cmd-ArrowLeft', run: cursorLineBoundaryLeft, shift: selectLineBoundaryLeft },
  { key: 'ArrowRight', run: cursorCharRight, shift: selectCharRight, preventDefault: true },
  { key: 'Mod-ArrowRight', mac: 'Alt-ArrowRight', run: cursorGroupRight, shift: selectGroupRight },
  { mac: 'Cmd-ArrowRight', run: cursorLineBoundaryRight, shift: selectLineBoundaryRight },
  { key: 'ArrowUp', run: cursorLineUp, shift: selectLineUp, preventDefault: true },
  { mac: 'Cmd-ArrowUp', run: cursorDocStart, shift: selectDocStart },
  { key: 'ArrowDown', run: cursorLineDown, shift: selectLineDown, preventDefault: true },
  { mac: 'Cmd-ArrowDown', run: cursorDocEnd, shift: selectDocEnd },
  { key: 'PageUp', run: cursorPageUp, shift: selectPageUp },
  { key: 'PageDown', run: cursorPageDown, shift: selectPageDown },
  { key: 'Home', run: cursorLineBoundaryBackward, shift: selectLineBoundaryBackward, preventDefault: true },
  { key: 'Mod-Home', run: cursorDocStart, shift: selectDocStart },
  { key: 'End', run: cursorLineBoundaryForward, shift: selectLineBoundaryForward, preventDefault: true },
  { key: 'Mod-End', run: cursorDocEnd, shift: selectDocEnd },
  { key: 'Mod-a', run: selectAll },
  { key: 'Enter', run: continueMarkup, shift: insertNewline },
  { key: 'Backspace', run: deleteChar(false), shift: deleteChar(false), preventDefault: true },
  { key: 'Delete', run: deleteChar(true), preventDefault: true },
  { key: 'Mod-Backspace', mac: 'Alt-Backspace', run: deleteGroupBackward, preventDefault: true },
  { key: 'Mod-Delete', mac: 'Alt-Delete', run: deleteGroupForward, preventDefault: true },
  ...historyKeymap,
];

/** The text of a piece: CodeMirror in place of its text area, which always has the same text, for the form. */
export class ProseText {
  readonly view: EditorView;
  readonly #area: HTMLTextAreaElement;

  constructor(
    area: HTMLTextAreaElement,
    options: { nonce: string; keys: KeyBinding[]; extensions: unknown[]; changed(update: ViewUpdate): void },
  ) {
    this.#area = area;
    const { lang, dir, spellcheck } = area;
    const content = {
      ...{ lang, dir, spellcheck: String(spellcheck), 'aria-multiline': 'true' },
      'aria-labelledby': 'prose-label',
      'aria-describedby': 'prose-hint prose-problem',
    };
    this.view = new EditorView({
      doc: area.value,
      extensions: [
        EditorView.cspNonce.of(options.nonce),
        history(),
        keymap.of([...options.keys, ...KEYS]),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of(content),
        EditorState.allowMultipleSelections.of(false),
        marks,
        highlighting,
        options.extensions as never,
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          area.value = this.text;
          options.changed(update);
        }),
      ],
    });
    area.hidden = true;
    area.after(this.view.dom);
    document.getElementById('prose-label')?.addEventListener('click', () => this.view.focus());
  }

  get text(): string {
    return this.view.state.sliceDoc();
  }

  set text(text: string) {
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
  }

  change(spec: TransactionSpec): void {
    this.view.dispatch(spec, { scrollIntoView: true });
    this.view.focus();
  }

  /** Puts a text in place of what is selected, with the cursor behind it. */
  insert(text: string, at = this.view.state.selection.main): void {
    const { from, to } = at;
    this.change({ changes: { from, to, insert: text }, selection: { anchor: from + text.length } });
  }

  /** Underlines what the door names; offsets count from the first character that is no space, as the door trims. */
  mark(found: Mark[]): void {
    const start = this.text.length - this.text.trimStart().length;
    const effects = setMarks.of(found.map((one) => ({ ...one, offset: one.offset + start })));
    this.view.dispatch({ effects });
  }

  /** Moves the cursor to an offset of the door's. */
  jump(offset: number): void {
    const start = this.text.length - this.text.trimStart().length;
    const at = Math.min(offset + start, this.view.state.doc.length);
    this.view.dispatch({
      selection: EditorSelection.cursor(at),
      effects: EditorView.scrollIntoView(at, { y: 'center' }),
    });
    this.view.focus();
  }

  /** The line of an offset of the door's. */
  lineOf(offset: number): number {
    const start = this.text.length - this.text.trimStart().length;
    return this.view.state.doc.lineAt(Math.min(offset + start, this.view.state.doc.length)).number;
  }

  setInvalid(isInvalid: boolean): void {
    if (isInvalid) this.view.contentDOM.setAttribute('aria-invalid', 'true');
    else this.view.contentDOM.removeAttribute('aria-invalid');
    this.#area.toggleAttribute('aria-invalid', isInvalid);
  }
}
