/**
 * What makes a backtracking engine slow: a repetition without a bound whose
 * characters the next one takes as well, so that they can be shared in many
 * ways; and one that is begun anew at each place of a text, to end nowhere.
 * It looks at characters and not at words, and so names some that are quick.
 */

/** A part of a pattern, as a row of which one path through the pattern is made. */
interface Part {
  /** The characters that it may take, and those that it may begin with. */
  all: ReadonlySet<string>;
  first: ReadonlySet<string>;
  isOptional: boolean;
  isUnbounded: boolean;
}

type Path = Part[];

/** Characters that stand for all others of their kind. */
const SAMPLE = [
  ...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)),
  'é',
  'Ω',
  '漢',
  '\u2028',
  '”',
  '😀',
];
/** Alternatives within alternatives are many; the first of them tell enough. */
const PATHS_MAX = 400;
const NOTHING: ReadonlySet<string> = new Set();

const meet = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean => {
  for (const char of one) if (other.has(char)) return true;
  return false;
};

/** A class of characters at the start of a text; with the flag v others may stand within it. */
function classAt(text: string, isNesting: boolean): string | null {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '[' && (depth === 0 || isNesting)) depth++;
    else if (text[at] === ']' && --depth === 0) return text.slice(0, at + 1);
    if (depth === 0) return null;
  }
  return null;
}

class Pattern {
  readonly #source: string;
  readonly #flags: string;
  #at = 0;

  constructor(source: string, flags: string) {
    this.#source = source;
    this.#flags = flags.replace(/[gyd]/g, '');
  }

  /** Every path through the alternatives up to the end of a group. */
  paths(): Path[] {
    const all: Path[] = [];
    let open: Path[] = [[]];
    while (this.#at < this.#source.length && this.#source[this.#at] !== ')') {
      if (this.#source[this.#at] === '|') {
        this.#at++;
        all.push(...open);
        open = [[]];
        continue;
      }
      const next = this.#term();
      open = open.flatMap((path) => next.map((more) => [...path, ...more])).slice(0, PATHS_MAX);
    }
    return [...all, ...open].slice(0, PATHS_MAX);
  }

  /** An atom with its quantifier: the ways through it. */
  #term(): Path[] {
    const rest = this.#source.slice(this.#at);
    const group = /^\((?:\?(?:<?[=!]|:|<\w+>))?/.exec(rest)?.[0];
    if (group !== undefined) {
      this.#at += group.length;
      const inner = this.paths();
      this.#at++;
      const { isOptional, isUnbounded } = this.#quantifier();
      if (/[=!]$/.test(group)) return [[]];
      const all = new Set(inner.flatMap((path) => path.flatMap((part) => [...part.all])));
      const first = new Set(
        inner.flatMap((path) => [...((path.find((part) => !part.isOptional) ?? path[0])?.first ?? NOTHING)]),
      );
      const ways = isOptional ? [[], ...inner] : inner;
      if (!isUnbounded) return ways;
      const twice = inner.flatMap((one) => inner.map((other) => [...one, ...other])).slice(0, PATHS_MAX);
      return [...ways, ...twice, [{ all, first, isOptional, isUnbounded: true }]];
    }
    const atom =
      classAt(rest, this.#flags.includes('v')) ??
      /^(?:\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\c.|\\.|[^\\])/su.exec(rest)?.[0] ??
      '';
    this.#at += atom.length;
    if (/^(?:\^|\$|\\b|\\B)$/.test(atom)) return [[]];
    const one = new RegExp(`^(?:${atom})$`, this.#flags);
    const all = new Set(SAMPLE.filter((char) => one.test(char)));
    return [[{ all, first: all, ...this.#quantifier() }]];
  }

  #quantifier(): Pick<Part, 'isOptional' | 'isUnbounded'> {
    const found = /^(?:[*+?]|\{(\d+)(?:,(\d*))?\})\??/.exec(this.#source.slice(this.#at));
    if (found === null) return { isOptional: false, isUnbounded: false };
    this.#at += found[0].length;
    const [sign = '', least, most] = found;
    return { isOptional: /^[*?]/.test(sign) || least === '0', isUnbounded: /^[*+]/.test(sign) || most === '' };
  }
}

/** What is wrong with a pattern's repetitions; null when nothing is. */
export function repetitionFault(source: string, flags: string): 'shared' | 'begun anew' | null {
  const isAnchored = source.startsWith('^') && !flags.includes('m');
  for (const path of new Pattern(source, flags).paths()) {
    for (const [at, part] of path.entries()) {
      if (!part.isUnbounded) continue;
      // Where nothing after it can fail, nothing is tried again.
      const mayFail = (after: number) =>
        source.endsWith('$') || path.slice(after + 1).some(({ isOptional }) => !isOptional);
      for (const [from, next] of path.entries()) {
        if (from <= at) continue;
        const isShared = meet(part.all, next.first);
        if (isShared && next.isUnbounded && mayFail(from)) return 'shared';
        if (!isShared && !next.isOptional) break;
      }
      const isBegunWithin = path.slice(0, at).every((before) => before.isOptional || meet(part.all, before.all));
      if (!isAnchored && !flags.includes('y') && isBegunWithin && mayFail(at)) return 'begun anew';
    }
  }
  return null;
}
