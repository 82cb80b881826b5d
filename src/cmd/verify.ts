import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import * as z from 'zod';
import { Fault } from '../fault.ts';
import { verifyNoble, verifyNode } from '../ledger/ed25519.ts';
import type { DoorKey } from '../ledger/keyring.ts';
import { keysFromVkeys, type Proof, proofFaults } from '../ledger/proof.ts';
import { say } from './run.ts';

/** How long a server may take to answer, in ms. */
const FETCH_TIMEOUT = 10_000;

/** Of the key document, all that a verifier needs. */
const KeyDocument = z.object({ keys: z.array(z.object({ vkey: z.string() })) });

interface Checked {
  proof: string;
  id: string | null;
  revision: number | null;
  faults: string[];
}

const OWN_KEYS =
  'The keys are the ones that come with the proof; to know whose they are, compare them with --keys or --vkey.';

export function command(): Command {
  return new Command('verify')
    .description('check proofs offline: the hash from the basis, each receipt’s signature, the chain')
    .argument('<where>', 'a proof file, a story’s address, or a pressed paper’s folder')
    .option('--keys <file>', 'trust only the keys of this newsdesk-keys.json')
    .option('--vkey <key...>', 'trust only these verifier keys')
    .option('--json', 'print the outcome as JSON')
    .action(async (where: string, options: { keys?: string; vkey?: string[]; json?: boolean }) => {
      const checked = await verifyAt(where, trustedKeys(options));
      const faulty = checked.filter(({ faults }) => faults.length > 0);
      say(options.json, checked, [
        ...faulty.flatMap(({ proof, faults }) => faults.map((fault) => `${proof}: ${fault}`)),
        ...(checked.length === 1 && faulty.length === 0
          ? [`${checked[0]?.id} revision ${checked[0]?.revision}: the hash, the receipts and the chain hold`]
          : [`${checked.length} proofs checked, ${faulty.length} do not hold`]),
        ...(options.keys === undefined && options.vkey === undefined ? [OWN_KEYS] : []),
        'A receipt proves who filed the piece and that it has not changed, never that a claim is true.',
      ]);
      if (faulty.length > 0) process.exitCode = 1;
    });
}

/** Checks every proof at a place. */
export async function verifyAt(where: string, trusted?: DoorKey[]): Promise<Checked[]> {
  if (/^https?:\/\//.test(where)) {
    const address = where.endsWith('/') ? `${where}proof.json` : where;
    return [check(address, await fetched(address), trusted, verifyNoble)];
  }
  if (!existsSync(where))
    throw new Fault('not_found', `${where} is not there; give a proof file, a folder or an address`);
  if (!statSync(where).isDirectory()) {
    return [check(where, parsed(where, readFileSync(where, 'utf8')), trusted, verifyNoble)];
  }
  const stories = join(where, 'stories');
  const keys = trusted ?? folderKeys(where);
  const files = (existsSync(stories) ? readdirSync(stories) : [])
    .map((name) => join(stories, name, 'proof.json'))
    .filter((file) => existsSync(file));
  if (files.length === 0)
    throw new Fault('not_found', `${where} holds no stories/*/proof.json; give the folder of a pressed paper`);
  return files.map((file) => {
    try {
      return check(file, parsed(file, readFileSync(file, 'utf8')), keys, verifyNode);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return { proof: file, id: null, revision: null, faults: [error.message] };
    }
  });
}

function check(proof: string, document: unknown, keys: DoorKey[] | undefined, verify: typeof verifyNode): Checked {
  const { id = null, revision = null } = (document ?? {}) as Partial<Proof>;
  return { proof, id, revision, faults: proofFaults(document, verify, keys) };
}

async function fetched(address: string): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(address, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(FETCH_TIMEOUT),
    });
  } catch (error) {
    throw new Fault('unavailable', `${address} did not answer (${(error as Error).message})`);
  }
  if (!response.ok)
    throw new Fault('not_found', `${address} answered ${response.status}; give a story's address or its proof.json`);
  return parsed(address, await response.text());
}

function parsed(where: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Fault('invalid_request', `${where} is not JSON; give a proof record`);
  }
}

function folderKeys(folder: string): DoorKey[] | undefined {
  const file = join(folder, '.well-known/newsdesk-keys.json');
  return existsSync(file) ? keysFromFile(file) : undefined;
}

function keysFromFile(file: string): DoorKey[] {
  if (!existsSync(file)) throw new Fault('not_found', `${file} is not there; give a newsdesk-keys.json`);
  const document = KeyDocument.safeParse(parsed(file, readFileSync(file, 'utf8')));
  const found = document.success ? keysFromVkeys(document.data.keys.map(({ vkey }) => vkey)) : [];
  if (found.length === 0) throw new Fault('invalid_request', `${file} holds no keys; give a newsdesk-keys.json`);
  return found;
}

function trustedKeys({ keys, vkey }: { keys?: string; vkey?: string[] }): DoorKey[] | undefined {
  const given = [...(keys === undefined ? [] : keysFromFile(keys)), ...keysFromVkeys(vkey ?? [])];
  if (vkey !== undefined && keysFromVkeys(vkey).length < vkey.length) {
    throw new Fault(
      'invalid_request',
      'a --vkey is not in the form <name>+<hash>+<base64>; take it from newsdesk-keys.json',
    );
  }
  return keys === undefined && vkey === undefined ? undefined : given;
}
