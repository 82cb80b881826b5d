import { parse as parseToml, type TomlTable } from 'smol-toml';
import { parse as parseYaml } from 'yaml';
import { ArchiveError, messageOf } from './archive-error.ts';
import { membersIn } from './members.ts';

/** The longest front matter that is read, in UTF-16 units. */
const FRONT_MAX = 64_000;

export type Fields = Record<string, unknown>;

const FENCES: [fence: string, read: (text: string) => unknown][] = [
  ['---', yamlIn],
  ['+++', (text) => parseToml(text) satisfies TomlTable],
];

/** The fields at the head of a file in YAML, TOML or JSON, and the text below them. Throws `ArchiveError`. */
export function frontMatter(text: string): { fields: Fields; body: string } {
  const whole = text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n');
  for (const [fence, read] of FENCES) {
    if (!whole.startsWith(`${fence}\n`)) continue;
    const end = whole.indexOf(`\n${fence}`, fence.length);
    if (end < 0) throw new ArchiveError(`its front matter has no end; close it with a line ${fence}`);
    const rest = whole.indexOf('\n', end + 1 + fence.length);
    return {
      fields: fieldsIn(whole.slice(fence.length + 1, end + 1), read),
      body: rest < 0 ? '' : whole.slice(rest + 1),
    };
  }
  if (/^\{\s*"/.test(whole)) {
    const end = whole.indexOf('\n}\n');
    if (end > 0) return { fields: fieldsIn(whole.slice(0, end + 2), JSON.parse), body: whole.slice(end + 3) };
  }
  return { fields: {}, body: whole };
}

/** The fields of a whole file of settings, by the ending of its name. */
export function settingsIn(name: string, text: string): Fields {
  if (name.endsWith('.toml')) return fieldsIn(text, parseToml);
  return fieldsIn(text, name.endsWith('.json') ? JSON.parse : yamlIn);
}

/** Limits aliases, which may multiply, and skips the check for duplicate keys, which takes quadratic time. */
function yamlIn(text: string): unknown {
  return parseYaml(text, { maxAliasCount: 100, uniqueKeys: false, logLevel: 'error' });
}

function fieldsIn(text: string, read: (text: string) => unknown): Fields {
  if (text.length > FRONT_MAX) {
    throw new ArchiveError(`its front matter has more than ${FRONT_MAX} characters; shorten it`);
  }
  try {
    return membersIn(read(text));
  } catch (error) {
    throw new ArchiveError(`its front matter cannot be read (${messageOf(error).split('\n')[0]}); correct it`);
  }
}
