import { toHex } from '../bytes.ts';
import { type VerifierKey, vkeyText } from '../key-text.ts';
import { LogFault, shown } from './log-fault.ts';
import { LOG_TYPES, readVerifierKey, WITNESS_TYPES } from './signatures.ts';

/** Policies of C2SP tlog-policy (protocol 7.8): the trusted logs and witnesses, and how many must sign. */

const POLICY_MAX = 256 * 1024;
const LINES_MAX = 1_000;
/** Characters. Parsing a longer address of combining marks would take quadratic time. */
const URL_MAX = 2_048;
/** The quorum that requires no witness. */
const NONE = 'none';

export interface PolicyLog {
  /** Its name is the log's origin. */
  key: VerifierKey;
  url: string | null;
}

export interface PolicyWitness {
  /** The policy's name for the witness. The name inside the key is the one that it signs under. */
  name: string;
  key: VerifierKey;
  /** The address for submitting checkpoints. */
  url: string | null;
}

/** At least `threshold` of these witnesses and groups must have cosigned. */
interface PolicyGroup {
  name: string;
  threshold: number;
  members: string[];
}

export interface Policy {
  logs: PolicyLog[];
  witnesses: PolicyWitness[];
  groups: PolicyGroup[];
  /** The name of a witness or a group; null when no witness is required. */
  quorum: string | null;
}

/** Parses a policy without hashing: the caller must check the keys' hashes. Throws a LogFault that names the line. */
export function parsePolicy(text: string): Policy {
  if (text.length > POLICY_MAX) throw new LogFault(`the policy has more than ${POLICY_MAX} characters`);
  const lines = text.split('\n');
  if (lines.length > LINES_MAX) throw new LogFault(`the policy has ${lines.length} lines; ${LINES_MAX} are the most`);
  const read = policyReader();
  for (const [at, line] of lines.entries()) {
    try {
      read.line(itemsOf(line), at + 1);
    } catch (fault) {
      throw fault instanceof LogFault ? new LogFault(`line ${at + 1} of the policy: ${fault.message}`) : fault;
    }
  }
  return read.policy();
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/;

/** The fields of a line, separated by spaces and tabs; empty for an empty line or a comment. */
function itemsOf(line: string): string[] {
  if (line.includes('\r')) throw new LogFault('it ends in a carriage return; save the file with newlines alone');
  if (CONTROL.test(line) || !line.isWellFormed()) throw new LogFault('it holds a control character, or is not UTF-8');
  const items = line.split(/[ \t]/).filter((item) => item !== '');
  if (items[0]?.startsWith('#')) return [];
  // Some parsers would treat everything after it as a comment.
  if (line.includes('#')) throw new LogFault('it has a # within; a comment has a line of its own');
  return items;
}

/** Reads a policy line by line. */
function policyReader() {
  const logs: PolicyLog[] = [];
  const witnesses: PolicyWitness[] = [];
  const groups: PolicyGroup[] = [];
  /** The line on which each name or key was defined. */
  const names = new Map<string, number>();
  const keys = new Map<string, number>();
  /** The group of which each name is a member. */
  const groupOf = new Map<string, string>();
  let quorum: { name: string; line: number } | null = null;

  function addName(name: string, line: number): void {
    if (name === NONE) throw new LogFault(`"${NONE}" is the quorum without witnesses; choose another name`);
    const before = names.get(name);
    if (before !== undefined) throw new LogFault(`${shown(name)} was defined on line ${before} already`);
    names.set(name, line);
  }

  function addKey({ name, publicKey }: VerifierKey, line: number): void {
    const bytes = toHex(publicKey);
    const before = keys.get(bytes);
    if (before !== undefined) throw new LogFault(`the key of ${shown(name)} stands on line ${before} already`);
    keys.set(bytes, line);
  }

  /** Prevents cycles, in which a group would contain itself. */
  function needName(name: string): void {
    if (!names.has(name)) throw new LogFault(`${shown(name)} is not defined on a line above`);
  }

  const words: Partial<Record<string, (items: string[], line: number) => void>> = {
    log([text, url, ...rest], line) {
      if (text === undefined || rest.length > 0) throw new LogFault('a log is: log VKEY [URL]');
      const key = readVerifierKey(text, LOG_TYPES);
      addKey(key, line);
      logs.push({ key, url: urlOf(url) });
    },
    witness([name, text, url, ...rest], line) {
      if (name === undefined || text === undefined || rest.length > 0) {
        throw new LogFault('a witness is: witness NAME VKEY [URL]');
      }
      const key = readVerifierKey(text, WITNESS_TYPES);
      addKey(key, line);
      addName(name, line);
      witnesses.push({ name, key, url: urlOf(url) });
    },
    group([name, count, ...members], line) {
      if (name === undefined || count === undefined || members.length === 0) {
        throw new LogFault('a group is: group NAME all|any|K MEMBER…');
      }
      for (const member of members) {
        if (member === NONE) throw new LogFault(`"${NONE}" cannot be a member of a group`);
        needName(member);
        const other = groupOf.get(member);
        if (other !== undefined) {
          throw new LogFault(`${shown(member)} is a member of ${shown(other)} already; it counts once`);
        }
        groupOf.set(member, name);
      }
      const threshold = thresholdOf(count, members.length);
      addName(name, line);
      groups.push({ name, threshold, members });
    },
    quorum([name, ...rest], line) {
      if (name === undefined || rest.length > 0) throw new LogFault('a quorum is: quorum NAME');
      if (quorum !== null) throw new LogFault(`the quorum was set on line ${quorum.line} already`);
      if (name !== NONE) needName(name);
      quorum = { name, line };
    },
  };
  return {
    line([word, ...items]: string[], line: number): void {
      if (word === undefined) return;
      const take = Object.hasOwn(words, word) ? words[word] : undefined;
      if (take === undefined) {
        throw new LogFault(`unknown word ${shown(word)}; a line begins with log, witness, group or quorum`);
      }
      take(items, line);
    },
    policy(): Policy {
      if (quorum === null) throw new LogFault('the policy has no quorum line; "quorum none" asks for no witness');
      return { logs, witnesses, groups, quorum: quorum.name === NONE ? null : quorum.name };
    },
  };
}

function thresholdOf(count: string, members: number): number {
  if (count === 'any') return 1;
  if (count === 'all') return members;
  if (!/^[1-9][0-9]{0,3}$/.test(count)) throw new LogFault(`${shown(count)} is not "all", "any" or a number from 1`);
  const threshold = Number(count);
  if (threshold <= members) return threshold;
  throw new LogFault(`${threshold} of ${members} members can never have cosigned; ask for ${members} at most`);
}

function urlOf(text: string | undefined): string | null {
  if (text === undefined) return null;
  if (text.length > URL_MAX) throw new LogFault(`an address has at most ${URL_MAX} characters`);
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.search !== '') {
    throw new LogFault(`${shown(text)} is not an address such as https://witness.example/`);
  }
  return text;
}

/** Serializes a policy. */
export function policyText({ logs, witnesses, groups, quorum }: Policy): string {
  const lines = [
    ...logs.map(({ key, url }) => ['log', vkeyText(key), url]),
    ...witnesses.map(({ name, key, url }) => ['witness', name, vkeyText(key), url]),
    ...groups.map(({ name, threshold, members }) => ['group', name, threshold, ...members]),
    ['quorum', quorum ?? NONE],
  ];
  return lines.map((items) => `${items.filter((item) => item !== null).join(' ')}\n`).join('');
}

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
