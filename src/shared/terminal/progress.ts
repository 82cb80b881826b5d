import { printable } from './output.ts';

/** The interval between lines without a terminal, in ms. */
const LINE_EVERY = 5_000;
const BAR_EVERY = 100;
const BAR_WIDTH = 28;

export interface Progress {
  /** `total` is null when unknown. */
  step(label: string, done: number, total: number | null, what: string): void;
  /** Clears the bar. Without a terminal, prints the final count if lines were printed before. */
  end(): void;
}

/** Shows the progress of a long task: a bar on a terminal, occasional lines elsewhere. */
export function progressTo(stream: NodeJS.WriteStream = process.stderr): Progress {
  const isTerminal = stream.isTTY === true;
  let last = isTerminal ? 0 : Date.now();
  let drawn = false;
  // The label of the last printed line, and the line that would complete its task.
  let printed: string | null = null;
  let ending = '';
  return {
    step(label, done, total, what) {
      const now = Date.now();
      const isLast = done === total;
      const far = total === null ? `${done}` : `${done} of ${total}`;
      if (printed === label) ending = `${label}: ${far}\n`;
      if (now - last < (isTerminal ? BAR_EVERY : LINE_EVERY) && !(isTerminal && isLast)) return;
      last = now;
      if (!isTerminal) {
        stream.write(`${label}: ${far}${total === null ? ' so far' : ''}\n`);
        printed = label;
        ending = '';
        return;
      }
      const line = `${label} ${total === null ? done : barOf(done, total)} ${printable(what)}`;
      stream.write(`\r\x1b[K${line.slice(0, (stream.columns ?? 80) - 1)}`);
      drawn = true;
    },
    end() {
      if (drawn) stream.write('\r\x1b[K');
      if (ending !== '') stream.write(ending);
      drawn = false;
      ending = '';
    },
  };
}

/** Shows the progress of `work` on standard error. */
export async function withProgress<T>(work: (step: Progress['step']) => Promise<T>): Promise<T> {
  const { step, end } = progressTo();
  return work(step).finally(end);
}

function barOf(done: number, total: number): string {
  const filled = Math.round((done / Math.max(total, 1)) * BAR_WIDTH);
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} ${done}/${total}`;
}
