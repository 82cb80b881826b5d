import { LogFault } from '../../../proof/log/log-fault.ts';
import type { LogProof } from '../../../proof/log/log-proof.ts';
import type { Policy } from '../../../proof/log/policy.ts';
import { present } from '../../../proof/narrow.ts';
import type { Check } from '../verify/check.ts';
import { NotFetched } from '../verify/fetched.ts';
import { type PolicySource, policyFrom, secondInWords, uncheckedWords } from '../verify/log.ts';
import { type LoggedReceipt, loggedEntry, verifyLogged } from '../verify/log-proof.ts';
import { pacer } from './pacer.ts';
import { check, few } from './receipts.ts';

/** What was not checked, in words. This is not a failure. */
export interface Unchecked {
  unchecked: string;
}

/** A receipt or another note, with the proof that it is in the log. */
interface LoggedRow {
  seq?: number;
  receipt: string;
  log?: LogProof | null;
}

/** The names of rows, and the titles of checks. */
const WORDS = {
  receipt: {
    rows: 'receipts',
    seen: 'The receipts are in the log, and witnesses have seen them',
    logged: 'The receipts are in the log',
  },
  note: { rows: 'notes', seen: 'The note is in the log, and witnesses have seen it', logged: 'The note is in the log' },
};
type Words = (typeof WORDS)[keyof typeof WORDS];

/** The check that receipts are in the log, and that the quorum of the site's policy has seen them. */
export async function* logChecks(
  rows: LoggedRow[],
  source: PolicySource,
  what: keyof typeof WORDS = 'receipt',
): AsyncGenerator<Check | Unchecked> {
  const words = WORDS[what];
  const logged = rows.filter((row): row is LoggedRow & { log: LogProof } => row.log != null);
  if (logged.length === 0) {
    const none = `No witness has confirmed these ${words.rows} yet, so that the service alone answers for when it signed them.`;
    yield { unchecked: rows.length === 0 ? '' : none };
    return;
  }
  const entries = await eachRow(logged, async ({ receipt, log }) => loggedEntry(receipt, log));
  if (entries.faults.length > 0) {
    yield check(words.seen, entries.faults, '');
    return;
  }
  try {
    const policy = await policyFrom(source);
    const proven = await eachRow(logged, ({ log }, at) => verifyLogged(present(entries.values[at]), log, policy));
    if (proven.faults.length > 0) yield check(words.seen, proven.faults, '');
    else yield* inWords(proven.values, rows.length, { policy, address: source.address, words });
  } catch (error) {
    if (error instanceof NotFetched) {
      yield { unchecked: `Which witnesses have seen the ${words.rows} was not checked, because ${error.message}` };
      return;
    }
    if (!(error instanceof LogFault)) throw error;
    yield check(words.seen, [error.message], '');
  }
}

/** Processes each row, and collects the faults by row number; only the first few are listed. */
async function eachRow<Row extends LoggedRow, Value>(
  rows: Row[],
  work: (row: Row, at: number) => Promise<Value>,
): Promise<{ values: Value[]; faults: string[] }> {
  const [values, faults]: [Value[], string[]] = [[], []];
  const pace = pacer();
  for (const [at, row] of rows.entries()) {
    await pace();
    try {
      values.push(await work(row, at));
    } catch (fault) {
      if (!(fault instanceof LogFault)) throw fault;
      faults.push(row.seq === undefined ? fault.message : `seq ${row.seq}: ${fault.message}`);
    }
  }
  return { values, faults: few(faults) };
}

function* inWords(
  proven: LoggedReceipt[],
  count: number,
  { policy, address, words }: { policy: Policy; address: string; words: Words },
): Generator<Check | Unchecked> {
  const open = proven.find(({ isQuorumMet }) => !isQuorumMet);
  if (open !== undefined) {
    yield {
      unchecked: `Whether enough witnesses have seen the ${words.rows} was not checked. ${uncheckedWords(open)}`,
    };
    return;
  }
  const [origin] = new Set(proven.map((one) => one.origin));
  const leafWords = `${proven.length} of ${count} ${words.rows} are leaves of the log “${origin}”: your browser followed each one’s path to the root of a head that the log has signed.`;
  const seen = policy.witnesses.flatMap(({ name }) => {
    const times = proven.flatMap(({ cosigners }) => cosigners.filter(({ witness }) => witness.name === name));
    const sorted = times.map(({ time }) => time).sort((a, b) => a - b);
    const [first, last] = [sorted[0], sorted.at(-1)];
    if (first === undefined || last === undefined) return [];
    const until =
      first === last ? `on ${secondInWords(first)}` : `from ${secondInWords(first)} to ${secondInWords(last)}`;
    return [`“${name}” ${until}`];
  });
  const rest = proven.length < count ? ' The others have no witness yet.' : '';
  const witnesses =
    seen.length === 0
      ? `No witness has signed those heads; the policy at ${address} asks for none.`
      : `Witnesses have signed those heads: ${seen.join(', ')}. For each, that is the quorum of the policy at ${address}; whether they are independent, it cannot say.`;
  const hidden = uncheckedWords(proven.find(({ unchecked }) => unchecked.length > 0) ?? { unchecked: [] });
  const found = [`${leafWords}${rest}`, witnesses, hidden].filter((line) => line !== '');
  yield { title: seen.length === 0 ? words.logged : words.seen, holds: true, found };
}
