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

/** A position in the text to which one of the door's rules refers. */
export interface Mark {
  offset: number;
  message: string;
}

const setMarks = StateEffect.define<Mark[]>();

/** Underlines each mark's word, from the mark's offset on. Typing moves the underlines until the next response. */
const marks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(before, { effects, changes, state }) {
    const given = effects.find((effect) => effect.is(setMarks));
    if (given === undefined) return before.map(changes);
    // Several rules may refer to the same position.
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

/** Markdown syntax, by the CSS class of the group that matches. For coloring only: the door's own grammar decides. */
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

/** The keys of a text field, as in CodeMirror's own table, except those that need a parser. */
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

/**
 * The text of a piece: a CodeMirror editor that replaces the text area. The text area always has the same text, for the
 * form.
 */
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

  /** Replaces the selection with a text, and puts the cursor after it. */
  insert(text: string, at = this.view.state.selection.main): void {
    const { from, to } = at;
    this.change({ changes: { from, to, insert: text }, selection: { anchor: from + text.length } });
  }

  /**
   * Underlines the positions that the door reports. Offsets count from the first character that is not white space,
   * because the door trims the text.
   */
  mark(found: Mark[]): void {
    const start = this.text.length - this.text.trimStart().length;
    const effects = setMarks.of(found.map((one) => ({ ...one, offset: one.offset + start })));
    this.view.dispatch({ effects });
  }

  /** Moves the cursor to an offset reported by the door. */
  jump(offset: number): void {
    const start = this.text.length - this.text.trimStart().length;
    const at = Math.min(offset + start, this.view.state.doc.length);
    this.view.dispatch({
      selection: EditorSelection.cursor(at),
      effects: EditorView.scrollIntoView(at, { y: 'center' }),
    });
    this.view.focus();
  }

  /** The line at an offset reported by the door. */
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
