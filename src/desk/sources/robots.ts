/** The rules in a site's robots.txt (RFC 9309) that apply to this program. */
export interface Robots {
  allows(path: string): boolean;
}

/** The name of this program in robots.txt: the product token of its `User-Agent` header. */
const TOKEN = 'broadsheet';
/** Maximum length of a file that is parsed, in UTF-16 units (RFC 9309, section 2.5). */
export const ROBOTS_MAX = 512 * 1_024;
/** Maximum number of rules that are read. */
const RULES_MAX = 5_000;
const RULE_MAX = 2_000;

interface Rule {
  allow: boolean;
  pattern: string;
}

/** The rules for this program, or those for all robots if none name it. Takes linear time. */
export function robotsOf(text: string): Robots {
  const ours: Rule[] = [];
  const everyones: Rule[] = [];
  let isNamed = false;
  let group = { ours: false, all: false, isOpen: false };
  for (const line of text.slice(0, ROBOTS_MAX).split(/[\r\n]/)) {
    const [, name = '', value = ''] = /^\s*([a-z-]{1,20})\s*:([^#]*)/i.exec(line.slice(0, RULE_MAX)) ?? [];
    const said = value.trim();
    const key = name.toLowerCase();
    if (key === 'user-agent') {
      // Consecutive `User-agent` lines belong to one group.
      if (!group.isOpen) group = { ours: false, all: false, isOpen: true };
      const token = (/^[\w*-]*/.exec(said)?.[0] ?? '').toLowerCase();
      if (token === TOKEN) isNamed = group.ours = true;
      if (token === '*') group.all = true;
    } else if (key === 'allow' || key === 'disallow') {
      group.isOpen = false;
      if (said === '') continue;
      const rule = { allow: key === 'allow', pattern: encoded(said) };
      if (group.ours && ours.length < RULES_MAX) ours.push(rule);
      if (group.all && everyones.length < RULES_MAX) everyones.push(rule);
    }
  }
  const rules = isNamed ? ours : everyones;
  return {
    allows(path) {
      const asked = encoded(path);
      if (asked === '/robots.txt') return true;
      let best: Rule | null = null;
      for (const rule of rules) {
        if (!covers(rule.pattern, asked)) continue;
        const longer = rule.pattern.length - (best?.pattern.length ?? -1);
        if (longer > 0 || (longer === 0 && rule.allow)) best = rule;
      }
      return best?.allow ?? true;
    },
  };
}

/** Percent-encodes a path as URLs are, so that both spellings compare equal. */
function encoded(path: string): string {
  try {
    return encodeURI(path.toWellFormed()).replace(/%25([0-9a-f]{2})/gi, (_, hex: string) => `%${hex.toUpperCase()}`);
  } catch {
    return path;
  }
}

/** Whether a pattern matches the beginning of a path. `*` matches anything; a final `$` matches the end. */
function covers(pattern: string, path: string): boolean {
  const isWhole = pattern.endsWith('$');
  const [first = '', ...rest] = (isWhole ? pattern.slice(0, -1) : pattern).split(/\*+/);
  if (!path.startsWith(first)) return false;
  let at = first.length;
  const last = isWhole && rest.length > 0 ? rest.pop() : undefined;
  for (const part of rest) {
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  if (!isWhole) return true;
  return last === undefined ? at === path.length : path.length - last.length >= at && path.endsWith(last);
}
