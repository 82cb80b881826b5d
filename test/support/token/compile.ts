import { readFileSync, writeFileSync } from 'node:fs';

/** The contracts on the tests' chain. */
const CONTRACTS = { dollar: 'Dollar', several: 'Several' } as const;

export type Compiled = Record<keyof typeof CONTRACTS, `0x${string}`>;

/** The stored output of the compiler, because compiling takes two seconds. */
const COMPILED = new URL('./compiled.json', import.meta.url);

/** The code of each contract as deployed, in hex. */
export async function compile(): Promise<Compiled> {
  // The compiler is large, and only its own test needs it.
  const { default: solc } = await import('solc');
  const names = Object.keys(CONTRACTS) as (keyof typeof CONTRACTS)[];
  const read = (name: string) => readFileSync(new URL(`./${name}.sol`, import.meta.url), 'utf8');
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(names.map((name) => [`${name}.sol`, { content: read(name) }])),
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
  const codeOf = (name: keyof typeof CONTRACTS) =>
    `0x${made.contracts[`${name}.sol`][CONTRACTS[name]].evm.deployedBytecode.object}`;
  return Object.fromEntries(names.map((name) => [name, codeOf(name)])) as Compiled;
}

/** The stored code of each contract. */
export function compiled(): Compiled {
  return JSON.parse(readFileSync(COMPILED, 'utf8'));
}

// `node test/support/token/compile.ts` regenerates the file.
if (import.meta.main) writeFileSync(COMPILED, `${JSON.stringify(await compile(), null, 2)}\n`);
