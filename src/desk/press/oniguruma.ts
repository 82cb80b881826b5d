import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { RegexEngine } from '@shikijs/primitive';
import oniguruma from 'vscode-oniguruma';

/** Maximum number of backtracking steps in one match. Real code takes a few hundred. */
const RETRIES_MAX = 10_000;
/** Oniguruma's default limit. With some grammars, a malicious line needs whole seconds to reach it. */
const RETRIES_DEFAULT = 10_000_000;

/**
 * Starts Oniguruma for Shiki. Its WebAssembly build has no function to set the backtracking limit, so the only word in
 * its memory with the default value is overwritten; with `null` it is left, and a test compares the two. Shiki's own
 * engine is not used, because it reads its file with the global Response, which Hono's server replaces. Starts only
 * once per process, so the limit of the first call applies.
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
