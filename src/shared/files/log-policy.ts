import { readFileSync } from 'node:fs';
import { LogFault } from '../../proof/log/log-fault.ts';
import { readPolicy } from '../../proof/log/node-crypto.ts';
import { meetsQuorum, type Policy } from '../../proof/log/policy.ts';
import { Fault, messageOf } from '../fault.ts';

/**
 * Reads the policy of our own logs, the file of `LOG_POLICY`. Throws `invalid_request` naming the file and the line, and
 * when the witnesses that can be asked are too few for the quorum.
 */
export function readOwnLogPolicy(file: string): Policy {
  const policy = readLogPolicy(file);
  const asked = policy.witnesses.filter(({ url }) => url !== null);
  if (meetsQuorum(policy, new Set(asked.map(({ name }) => name)))) return policy;
  const silent = policy.witnesses.filter(({ url }) => url === null).map(({ name }) => name);
  throw new Fault(
    'invalid_request',
    `${file}: the quorum cannot be met, because these witnesses have no address: ${silent.join(', ')}; give each its address after its key`,
  );
}

/** Reads a policy file. Throws `invalid_request` naming the file and the line. */
function readLogPolicy(file: string): Policy {
  try {
    return readPolicy(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(file)));
  } catch (error) {
    if (error instanceof LogFault) throw new Fault('invalid_request', `${file}: ${error.message}`);
    throw new Fault('invalid_request', `${file} cannot be read: ${messageOf(error)}`);
  }
}
