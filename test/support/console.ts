import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** A command in a document, and the output that the document shows. */
export interface Shown {
  command: string;
  output: string[];
}

/** The commands of every ```console block, in order. Lines that start with `$ ` are commands. */
export function consoleBlocks(page: string): Shown[][] {
  return [...page.matchAll(/^```console\n([\s\S]*?)^```/gm)].map(([, block = '']) =>
    block
      .split('\n')
      .slice(0, -1)
      .reduce<Shown[]>((shown, line) => {
        if (line.startsWith('$ ')) shown.push({ command: line.slice(2), output: [] });
        else shown.at(-1)?.output.push(line);
        return shown;
      }, []),
  );
}

/** Values that differ in every run and that later commands repeat: a desk's key, an id. */
const NAMES = String.raw`nrf_[0-9A-Za-z]+|\b[0-9a-hjkmnp-tv-z]{26}\b`;
/** The same, and values that no command repeats: an instant, a number of milliseconds. */
const FRESH = new RegExp(String.raw`${NAMES}|"\d{4}-\d\d-\d\dT[\d:.]+Z"|(?<=_ms":)\d+`, 'g');
const literally = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

export interface Shell {
  folder: string;
  env: Record<string, string>;
  /** The document's addresses, each with the one in this run. */
  addresses: Record<string, string>;
}

/**
 * Runs commands in a shell and compares their output with the document line by line. `…` matches anything, or any
 * number of lines on a line of its own. Values that differ in every run are remembered and inserted into later
 * commands.
 */
export class Console {
  readonly #shell: Shell;
  readonly #fresh = new Map<string, string>();
  #variables = '';

  constructor(shell: Shell) {
    this.#shell = shell;
  }

  async play(shown: readonly Shown[]): Promise<void> {
    for (const { command, output } of shown) {
      const given = this.#actual(command);
      if (/^(?:[A-Z]+=\S+ ?)+$/.test(given)) this.#variables += `${given}\n`;
      else this.#compare(command, output, (await this.#run(given)).trimEnd().split('\n'));
    }
  }

  #actual(command: string): string {
    let given = command.replaceAll(new RegExp(NAMES, 'g'), (shown) => this.#fresh.get(shown) ?? shown);
    for (const [shown, real] of Object.entries(this.#shell.addresses)) given = given.replaceAll(shown, real);
    return given;
  }

  async #run(command: string): Promise<string> {
    const { folder, env } = this.#shell;
    // Merges both streams in the order of a terminal.
    const child = spawn('sh', ['-c', `exec 2>&1\n${this.#variables}${command}`], {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = await Promise.all([text(child.stdout), once(child, 'close')]);
    return said;
  }

  #compare(command: string, shown: readonly string[], said: readonly string[]): void {
    for (const [index, line] of shown.entries()) {
      if (line === '…') return;
      const fresh = [...line.matchAll(FRESH)].map(([value]) => value);
      const parts = line.split(FRESH).map((part) => literally(part).replaceAll('…', '.*'));
      const pattern = parts.join(String.raw`(\S*?)`);
      const found = new RegExp(`^${pattern}$`).exec(said[index] ?? '');
      assert(found, `${command}\nshows: ${line}\nprints: ${said[index]}\nin all:\n${said.join('\n')}`);
      for (const [index, value] of fresh.entries()) this.#fresh.set(value, found[index + 1] ?? '');
    }
    assert.equal(said.length, Math.max(1, shown.length), `${command} prints more:\n${said.join('\n')}`);
  }
}
