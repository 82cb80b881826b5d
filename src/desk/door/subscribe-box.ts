import type { MarkdownIt } from 'markdown-it';

/** A line that shows the paper's subscribe form. A preceding backslash makes it plain text. */
const LINE = /^::subscribe[ \t]*$/;

/** Parses the line as a token without text, outside of quotes and lists; it ends the paragraph above. */
export function subscribeBox(md: MarkdownIt): void {
  md.block.ruler.before(
    'fence',
    'subscribe_box',
    (state, line, _end, silent) => {
      if (state.level > 0 || (state.sCount[line] ?? 0) - state.blkIndent >= 4) return false;
      const start = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0);
      if (!LINE.test(state.src.slice(start, state.eMarks[line]))) return false;
      if (silent) return true;
      state.line = line + 1;
      state.push('subscribe_box', '', 0).map = [line, line + 1];
      return true;
    },
    { alt: ['paragraph', 'reference', 'blockquote', 'list'] },
  );
}
