import * as z from 'zod';
import { quoted } from './quoted.ts';

/** One broken rule of a piece, a paper or a record. */
export interface Problem {
  /** A path such as `cited_facts[2].source`. */
  field: string;
  /** The rule's stable name, such as `marker_without_entry`. */
  rule: string;
  /** What is wrong, with which value, and what to do about it. */
  message: string;
  /** Offset into the field's text, in UTF-16 units, where the rule was broken. */
  offset?: number;
}

/** Maximum length of a quoted value or member name in a message, in characters. */
const GIVEN_MAX = 80;

/** The types of JSON values as messages name them. */
const KIND: Partial<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** Examples of the checked text formats. */
const FORM: Partial<Record<string, string>> = {
  datetime: 'a time such as 2026-11-20T06:30:00Z',
  email: 'a mail address such as name@example.org',
  url: 'an address such as https://example.org/',
};

// The default for schemas without a message of their own.
z.config({ localeError: (issue) => demand(issue) ?? z.locales.en().localeError(issue) });

/** The problems of a value that does not match its schema, one per member. */
export function shapeProblems(error: z.ZodError, value: unknown): Problem[] {
  return error.issues.flatMap((issue) => {
    const field = fieldName(issue.path);
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        field: fieldName([...issue.path, key]),
        rule: 'unknown_field',
        message: `there is no field of this name; take it out or correct its spelling`,
      }));
    }
    const given = valueAt(value, issue.path);
    // A rule about several fields says which one to add, and why.
    if (given === undefined && issue.code === 'custom') return [{ field, rule: 'required', message: issue.message }];
    return [
      given === undefined
        ? { field, rule: 'required', message: 'this field is missing; add it' }
        : { field, rule: 'wrong_type', message: `${shown(given)}: ${lowerFirst(issue.message)}` },
    ];
  });
}

/** The requirement that a value violates; null when the library's own message is good enough. */
function demand(issue: z.core.$ZodRawIssue): string | null {
  switch (issue.code) {
    case 'invalid_type':
      return KIND[issue.expected] === undefined ? null : `must be ${KIND[issue.expected]}`;
    case 'invalid_value': {
      const values = issue.values.map((value) => (typeof value === 'bigint' ? String(value) : JSON.stringify(value)));
      return `must be ${values.length > 2 ? `one of ${values.join(', ')}` : values.join(' or ')}`;
    }
    case 'too_big':
      return bound(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum);
    case 'too_small':
      return bound(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum);
    case 'invalid_format':
      return FORM[issue.format] === undefined ? null : `must be ${FORM[issue.format]}`;
    case 'invalid_union': {
      const ways = issue.errors.map(([first]) => /^must be (.+)/.exec(first?.message ?? '')?.[1]);
      return ways.length === 0 || ways.includes(undefined) ? null : `must be ${[...new Set(ways)].join(', or ')}`;
    }
    default:
      return null;
  }
}

function bound(origin: string, words: string, limit: number | bigint): string {
  const unit = { string: 'character', array: 'element' }[origin];
  return unit === undefined
    ? `must be ${words} ${limit}`
    : `must have ${words} ${limit} ${unit}${Number(limit) === 1 ? '' : 's'}`;
}

/** A path of keys as a single name: `cited_facts[2].source`. */
export function fieldName(path: readonly PropertyKey[]): string {
  let name = '';
  for (const key of path) {
    if (typeof key === 'number') name += `[${key}]`;
    else name += `${name === '' ? '' : '.'}${cut(String(key))}`;
  }
  return name === '' ? 'body' : name;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const key of path) at = (at as Record<PropertyKey, unknown> | null | undefined)?.[key];
  return at;
}

function shown(given: unknown): string {
  // JSON.stringify would return null.
  if (given === Infinity || given === -Infinity) return 'a number that is too large to be held';
  let text: string;
  try {
    text = quoted(given);
  } catch {
    // JSON.parse accepts thousands of nested arrays, but JSON.stringify does not.
    return 'a value that is nested too deep to be shown';
  }
  return cut(text);
}

function cut(text: string): string {
  return text.length > GIVEN_MAX ? `${text.slice(0, GIVEN_MAX)}…` : text;
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
