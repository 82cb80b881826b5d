import type { Settings } from '../env.ts';
import { readOwnLogPolicy } from '../files/log-policy.ts';
import { vkeyFields } from '../ledger/key-text.ts';
import type { LogService } from '../ledger/log/leaf.ts';
import { type Policy, policyText } from '../ledger/log/policy.ts';
import type { LogKey } from './log-key.ts';

/** The policies that were read, by the settings that name their files. */
const read = new WeakMap<object, Policy>();

/**
 * The policy in force; null when the logs have no witnesses. It is read once for each reading of the settings, so that
 * all parts of a server have the same one, whatever happens to the file until a reload. Throws `invalid_request` naming
 * the file and the line.
 */
export function ownPolicy(settings: Pick<Settings, 'logPolicy'>): Policy | null {
  const { logPolicy } = settings;
  if (logPolicy === null) return null;
  const policy = read.get(settings) ?? readOwnLogPolicy(logPolicy);
  read.set(settings, policy);
  return policy;
}

/** The policy that readers of a log get: this log alone, whose address they know, and the witnesses in force. */
export function publishedPolicy(settings: Settings, log: LogService, key: LogKey): string {
  const { witnesses, groups, quorum } = ownPolicy(settings) ?? { witnesses: [], groups: [], quorum: null };
  const own = vkeyFields(key.vkey);
  if (own === null) throw new TypeError(`${key.vkey} is not a verifier key`);
  const url = `${log === 'desk' ? settings.origin : settings.dataOrigin}/log/`;
  return policyText({ logs: [{ key: own, url }], witnesses, groups, quorum });
}
