import { insertNewline } from '@codemirror/commands';
import { EditorSelection, type SelectionRange } from '@codemirror/state';
import type { Command, EditorView } from '@codemirror/view';

/** Puts marks around each selection, or removes them if they are there. */
export const around =
  (mark: string): Command =>
  (view) => {
    const { state } = view;
    const change = state.changeByRange(({ from, to }) => {
      const size = mark.length;
      const isMarked = state.sliceDoc(from - size, from) === mark && state.sliceDoc(to, to + size) === mark;
      if (isMarked) {
        return {
          changes: [
            { from: from - size, to: from },
            { from: to, to: to + size },
          ],
          range: EditorSelection.range(from - size, to - size),
        };
      }
      return {
        changes: [
          { from, insert: mark },
          { from: to, insert: mark },
        ],
        range: EditorSelection.range(from + size, to + size),
      };
    });
    view.dispatch(state.update(change, { userEvent: 'input', scrollIntoView: true }));
    return true;
  };

/** Puts a mark at the beginning of each selected line, or removes it if all lines have it. */
export const linesWith =
  (mark: string): Command =>
  (view) => {
    const { doc, selection } = view.state;
    const { from, to } = selection.main;
    const lines = [];
    for (let n = doc.lineAt(from).number; n <= doc.lineAt(to).number; n++) lines.push(doc.line(n));
    const isMarked = lines.every(({ text }) => text.startsWith(mark));
    const changes = lines.map(({ from: at }) =>
      isMarked ? { from: at, to: at + mark.length } : { from: at, insert: mark },
    );
    view.dispatch({ changes, userEvent: 'input', scrollIntoView: true });
    return true;
  };

/** Turns the selection into a link: an address becomes its target, other text its label. */
export const link: Command = (view) => {
  const { state } = view;
  const { from, to } = state.selection.main;
  const text = state.sliceDoc(from, to);
  const isAddress = /^https?:\/\/\S+$/.test(text);
  const insert = isAddress ? `[](${text})` : `[${text}](https://)`;
  const [start, end]: [number, number] = isAddress ? [1, 1] : [text.length + 3, text.length + 3 + 'https://'.length];
  view.dispatch({
    changes: { from, to, insert },
    selection: EditorSelection.range(from + start, from + end),
    userEvent: 'input',
    scrollIntoView: true,
  });
  return true;
};

const LIST_ITEM = /^(\s*)(?:([-*+]|>) |(\d{1,9})([.)]) )/;

/** Starts a new line that continues the current list or quote. In an empty item, ends the list. */
export const continueMarkup: Command = (view: EditorView) => {
  const { state } = view;
  const { main } = state.selection;
  const line = state.doc.lineAt(main.head);
  const item = LIST_ITEM.exec(line.text);
  if (!main.empty || item === null || main.head < line.from + item[0].length) return insertNewline(view);
  const [all, indent = '', bullet, number, dot] = item;
  if (line.text === all) {
    view.dispatch({ changes: { from: line.from, to: line.to }, userEvent: 'delete' });
    return true;
  }
  const next = bullet === undefined ? `${Number(number) + 1}${dot}` : bullet;
  const insert = `\n${indent}${next} `;
  view.dispatch({
    changes: { from: main.head, insert },
    selection: { anchor: main.head + insert.length } satisfies Partial<SelectionRange>,
    userEvent: 'input',
    scrollIntoView: true,
  });
  return true;
};

/**
 * Deletes the selection, or the character before or after the cursor. CodeMirror's own command would bundle a parser.
 */
export const deleteChar =
  (isForward: boolean): Command =>
  (view) => {
    const { main } = view.state.selection;
    const other = main.empty ? view.moveByChar(main, isForward).head : main.from;
    const [from, to] = main.empty ? [Math.min(main.head, other), Math.max(main.head, other)] : [main.from, main.to];
    if (from === to) return false;
    view.dispatch({ changes: { from, to }, selection: { anchor: from }, userEvent: 'delete', scrollIntoView: true });
    return true;
  };
