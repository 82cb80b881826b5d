import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { RegexEngine } from '@shikijs/primitive';
import oniguruma from 'vscode-oniguruma';

/** How often a regular expression may go back in one match. Real code takes a few hundred steps. */
const RETRIES_MAX = 10_000;
/** Oniguruma's own limit, which some grammars need whole seconds to reach for one hostile line. */
const RETRIES_DEFAULT = 10_000_000;

/**
 * Oniguruma for Shiki. Its build for WebAssembly has no function that sets the limit on going back, so the one word of
 * its memory that holds the default is overwritten; `null` leaves it, and a test compares the two. Shiki's own engine
 * reads its file with the global Response, which Hono's server replaces. Starts once in a process: the limit of the
 * first call holds.
 */
export async function startOniguruma(retriesMax: number | null = RETRIES_MAX): Promise<RegexEngine> {
  const file = await readFile(fileURLToPath(import.meta.resolve('vscode-oniguruma/release/onig.wasm')));
  await oniguruma.loadWASM({
    async instantiator(imports) {
      const wasm = await WebAssembly.instantiate(file, imports);
      if (retriesMax !== null) limitRetries((wasm.instance.exports.memory as WebAssembly.Memory).buffer, retriesMax);
      return wasm;
    },
  });
  return {
    createScanner: (patterns) => oniguruma.createOnigScanner(patterns.map(String)),
    createString: (text) => oniguruma.createOnigString(text),
  };
}

function limitRetries(memory: ArrayBufferLike, retriesMax: number): void {
  const words = new Uint32Array(memory);
  const at = words.indexOf(RETRIES_DEFAULT);
  if (at < 0 || words.includes(RETRIES_DEFAULT, at + 1)) {
    throw new Error('this vscode-oniguruma has no limit on retries; install the version that package.json names');
  }
  words[at] = retriesMax;
}
