import { Fault } from '../../fault.ts';
import { LogFault } from '../../ledger/log/log-fault.ts';
import type { Policy } from '../../ledger/log/policy.ts';
import { readPolicy } from '../../ledger/log/policy-keys.ts';
import { isAddress } from '../verify-sources.ts';
import { fetched, readText } from '../verify-texts.ts';

const GIVE = 'a tlog-policy, such as the file log/policy of a paper’s host';
/** Longer than any valid policy, in bytes. */
const LONGEST = 1_000_000;

/** The policy in a file or at an address. Throws a Fault that names the file, and the line that is wrong. */
export async function readPolicyAt(where: string): Promise<Policy> {
  const text = isAddress(where)
    ? await fetched(where, GIVE, { bytes: LONGEST, accept: '*/*' })
    : readText(where, GIVE, LONGEST);
  try {
    return readPolicy(text);
  } catch (error) {
    if (!(error instanceof LogFault)) throw error;
    throw new Fault('invalid_request', `${where}: ${error.message}`);
  }
}
