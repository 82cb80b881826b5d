import type { Policy } from './policy.ts';

/** Whether these witnesses, by their names in the policy, meet the quorum. */
export function meetsQuorum({ witnesses, groups, quorum }: Policy, cosigned: ReadonlySet<string>): boolean {
  if (quorum === null) return true;
  const met = new Set(witnesses.map(({ name }) => name).filter((name) => cosigned.has(name)));
  // Groups follow their members, so one pass is enough.
  for (const { name, threshold, members } of groups) {
    if (members.filter((member) => met.has(member)).length >= threshold) met.add(name);
  }
  return met.has(quorum);
}
