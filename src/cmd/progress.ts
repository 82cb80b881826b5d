import { shown } from './terminal.ts';

/** How often a line is printed where there is no terminal, in ms. */
const LINE_EVERY = 5_000;
const BAR_EVERY = 100;
const BAR_WIDTH = 28;

export interface Progress {
  step(label: string, done: number, total: number, what: string): void;
  /** Clears the bar. */
  end(): void;
}

/** Shows how far long work has come: a bar on a terminal, now and then a plain line elsewhere. */
export function progressTo(stream: NodeJS.WriteStream = process.stderr): Progress {
  const isTerminal = stream.isTTY === true;
  let last = isTerminal ? 0 : Date.now();
  let drawn = false;
  return {
    step(label, done, total, what) {
      const now = Date.now();
      if (now - last < (isTerminal ? BAR_EVERY : LINE_EVERY) && (!isTerminal || done < total)) return;
      last = now;
      if (!isTerminal) {
        stream.write(`${label}: ${done} of ${total}\n`);
        return;
      }
      const filled = Math.round((done / Math.max(total, 1)) * BAR_WIDTH);
      const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)}`;
      const line = `${label} ${bar} ${done}/${total} ${shown(what)}`;
      stream.write(`\r\x1b[K${line.slice(0, (stream.columns ?? 80) - 1)}`);
      drawn = true;
    },
    end() {
      if (drawn) stream.write('\r\x1b[K');
      drawn = false;
    },
  };
}
