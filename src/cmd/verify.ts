import { Command } from 'commander';
import { readPolicyAt } from '../operate/audit/log/served-log.ts';
import { verifiedLines, verifyAt } from '../operate/audit/verify.ts';
import { keysAt } from '../operate/audit/verify-sources.ts';
import type { VerifyingKey } from '../proof/keyring.ts';
import { keysFromVkeys } from '../proof/proof.ts';
import { Fault } from '../shared/fault.ts';
import { exitUnchecked, NOT_CHECKED, printResult } from '../shared/terminal/output.ts';
import { givenAddress } from '../shared/terminal/project-folder.ts';

interface Options {
  keys?: string;
  vkey?: string[];
  policy?: string;
  json?: boolean;
}

export function command(): Command {
  return new Command('verify')
    .description('check proofs offline: hashes, signatures, the chain, and a record against its root')
    .argument(
      '<where>',
      'a proof, a fact, the address of a story or a fact, or a pressed paper’s folder; an evidence bundle, record, preview, receipt or badge of the domain records, the proof.json of a dump, or its address; - for standard input',
    )
    .argument('[file...]', 'the files of a dump, after its proof.json (default: those beside it)')
    .option('--keys <file or address>', 'trust only the keys of this newsdesk-keys.json or records-keys.json')
    .option('--vkey <key...>', 'trust only these verifier keys')
    .option('--policy <file or address>', 'require the receipts to be in a log of this tlog-policy, with its quorum')
    .option('--json', 'print the outcome as JSON')
    .exitOverride(exitUnchecked)
    .addHelpText('after', '\nExit code 0: everything holds; 1: something does not; 2: nothing could be checked.')
    .action(async (given: string, files: string[], options: Options) => {
      process.exitCode = NOT_CHECKED;
      const where = givenAddress(given);
      const { policy } = options;
      const trust = {
        keys: await trustedKeys(options),
        policy: policy === undefined ? undefined : await readPolicyAt(givenAddress(policy)),
      };
      const checked = await verifyAt(where, trust, files.map(givenAddress));
      printResult(options.json, checked, verifiedLines(where, checked, trust));
      process.exitCode = checked.some(({ faults }) => faults.length > 0) ? 1 : 0;
    });
}

async function trustedKeys({ keys, vkey }: Options): Promise<VerifyingKey[] | undefined> {
  if (keys === undefined && vkey === undefined) return undefined;
  const named = keysFromVkeys(vkey ?? []);
  if (named.length < (vkey?.length ?? 0)) {
    throw new Fault(
      'invalid_request',
      'a --vkey is not in the form <name>+<hash>+<base64>; copy it from newsdesk-keys.json',
    );
  }
  return [...(keys === undefined ? [] : await keysAt(givenAddress(keys))), ...named];
}
