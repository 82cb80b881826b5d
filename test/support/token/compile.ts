import { readFileSync, writeFileSync } from 'node:fs';
import solc from 'solc';

const SOURCE = new URL('./dollar.sol', import.meta.url);
/** What the compiler made of it: compiling takes a second, which each test that wants a chain is spared. */
const COMPILED = new URL('./dollar.json', import.meta.url);

/** The token's code as it stands on a chain, in hex. */
export function compile(): string {
  const input = {
    language: 'Solidity',
    sources: { 'dollar.sol': { content: readFileSync(SOURCE, 'utf8') } },
    settings: {
      optimizer: { enabled: true, runs: 200 },
      viaIR: true,
      metadata: { appendCBOR: false, bytecodeHash: 'none' },
      outputSelection: { '*': { '*': ['evm.deployedBytecode.object'] } },
    },
  };
  const made = JSON.parse(solc.compile(JSON.stringify(input)));
  const failed = (made.errors ?? []).filter(({ severity }: { severity: string }) => severity === 'error');
  if (failed.length > 0) throw new Error(failed[0].formattedMessage);
  return `0x${made.contracts['dollar.sol'].Dollar.evm.deployedBytecode.object}`;
}

/** The token's code as it was compiled and is kept beside its source. */
export function compiled(): `0x${string}` {
  return JSON.parse(readFileSync(COMPILED, 'utf8')).code;
}

// `node test/support/token/compile.ts` writes it anew.
if (import.meta.main) writeFileSync(COMPILED, `${JSON.stringify({ code: compile() }, null, 2)}\n`);
