import { parse } from 'yaml';
import * as z from 'zod';
import { Fault, listedProblems, messageOf } from '../shared/fault.ts';
import { type Problem, shapeProblems } from '../shared/shape.ts';
import { firstUnstorable } from '../shared/storable.ts';
import { FAMILY, HOSTS, type Rule, TYPES } from './expectation.ts';
import { beginning, coversAll, normalNetwork, normalValue, providerIn } from './expected-values.ts';
import { hostnameOfField } from './hostname.ts';
import type { TrackedName } from './tracked-values.ts';

/**
 * The document of an account's expectations, the same in a file, in JSON and on a page. A rule is about one type of one
 * hostname, and of exactly one kind.
 */

export const NAMES_MAX = 1_000;
const LIST_MAX = 100;
const VALUE_MAX = 4_096;
/** The largest document, in UTF-16 units of its JSON. */
export const DOCUMENT_MAX = 256 * 1_024;

const Value = z.string().max(VALUE_MAX);
const KINDS = ['values', 'prefixes', 'as', 'issuers', 'providers'] as const;

export const RuleBody = z.strictObject({
  values: z
    .array(Value)
    .max(LIST_MAX)
    .optional()
    .describe('Exactly these values, in any order; none means that there are no records.'),
  subset: z.boolean().optional().describe('With `values`: some of them suffice, and no other.'),
  prefixes: z
    .array(Value)
    .min(1)
    .max(LIST_MAX)
    .optional()
    .describe('Of addresses, networks such as `192.0.2.0/24`; of other types, how each value begins.'),
  as: z
    .array(z.int().min(1).max(4_294_967_295))
    .min(1)
    .max(LIST_MAX)
    .optional()
    .describe('Of addresses: the autonomous systems that originate them, where the operator has a table of these.'),
  issuers: z
    .array(Value)
    .min(1)
    .max(LIST_MAX)
    .optional()
    .describe('Of CERTIFICATE: who may have issued it, as /issuers names them.'),
  providers: z
    .array(Value)
    .min(1)
    .max(LIST_MAX)
    .optional()
    .describe('Of NS, MX and CNAME: services as /services names them, or the domains of hosts.'),
});

/** The `names` member. Rules are validated one by one, so that all problems are reported together. */
export const Names = z.record(z.string(), z.record(z.string(), z.unknown()));
export const NAMES_TEXT = `By hostname and type. A type is one of ${TYPES.join(', ')}; a rule has one of ${KINDS.join(', ')}.`;

/** The validated `names` member, by hostname and type. */
export type Expected = Record<string, Partial<Record<TrackedName, Rule>>>;

/** What documents may refer to: autonomous systems and hostnames. */
export interface Known {
  /** Whether the operator has configured a table of origins. */
  hasOrigins: boolean;
  /** Why a hostname cannot have expectations; null if it can. */
  refusal(hostname: string): string | null;
}

/** Validates and normalizes the `names` of a document. Each problem has a path, the value and a fix. */
export function readNames(
  names: z.output<typeof Names>,
  known: Known,
  context: Pick<z.core.$RefinementCtx, 'issues'>,
): Expected {
  const expected: Expected = Object.create(null);
  const issue = (path: PropertyKey[], message: string, input: unknown): void =>
    void context.issues.push({ code: 'custom', path: ['names', ...path], message, input });
  const all = Object.entries(names);
  if (all.length === 0) issue([], 'is empty; name what is expected, or DELETE all expectations', names);
  if (all.length > NAMES_MAX) issue([], `has ${all.length} names; the most are ${NAMES_MAX}`, names);
  if (JSON.stringify(names).length > DOCUMENT_MAX) {
    issue([], `has more than ${DOCUMENT_MAX} characters of JSON; shorten it`, names);
    return expected;
  }
  for (const [name, rules] of all.slice(0, NAMES_MAX)) {
    const hostname = hostnameIn(name, known, (message) => issue([name], message, rules));
    if (hostname !== null && expected[hostname] !== undefined) {
      issue([name], `is ${hostname}, which is there already; give each name once`, rules);
    }
    if (Object.keys(rules).length === 0) issue([name], 'has no type; give one, such as A, or take the name out', rules);
    const own: Expected[string] = {};
    for (const [type, rule] of Object.entries(rules)) {
      const path = [name, type];
      const signal = TYPES.find((one) => one === type);
      const parsed = RuleBody.safeParse(rule);
      if (!parsed.success) {
        for (const one of parsed.error.issues) {
          context.issues.push({ ...one, path: ['names', ...path, ...one.path], input: rule } as z.core.$ZodRawIssue);
        }
      }
      if (signal === undefined) issue(path, `is not a type; it must be one of ${TYPES.join(', ')}`, rule);
      else if (parsed.success) {
        const normal = normalRule(signal, parsed.data, known, (of, message) => issue([...path, ...of], message, rule));
        if (normal !== null) own[signal] = normal;
      }
    }
    if (hostname !== null) expected[hostname] = own;
  }
  return expected;
}

/**
 * Parses a document in YAML or JSON. Throws `invalid_request` with all problems, each with its path, the value and a
 * fix.
 */
export function readDocument(text: string, known: Known): Expected {
  if (text.length > DOCUMENT_MAX) {
    throw new Fault('invalid_request', `the document has more than ${DOCUMENT_MAX} characters; shorten it`, {
      field: 'names',
    });
  }
  const value = valueIn(text);
  const odd = firstUnstorable(value);
  if (odd !== null) throw refused([{ field: odd.path, rule: 'unstorable', message: odd.why }]);
  const parsed = z
    .strictObject({ names: Names })
    .transform(({ names }, context) => readNames(names, known, context))
    .safeParse(value);
  if (parsed.success) return parsed.data;
  throw refused(shapeProblems(parsed.error, value));
}

function valueIn(text: string): unknown {
  try {
    return parse(text, { logLevel: 'error' });
  } catch (error) {
    // A syntax error, or aliases that would expand without limit.
    const [message = ''] = messageOf(error).split('\n', 1);
    throw refused([{ field: 'document', rule: 'not_yaml', message: `is not YAML: ${message}` }]);
  }
}

function refused(problems: Problem[]): Fault {
  const [first] = problems;
  return new Fault('invalid_request', `${first?.field}: ${first?.message}`, {
    field: first?.field,
    ...listedProblems(problems),
  });
}

function hostnameIn(name: string, known: Known, refuse: (message: string) => void): string | null {
  try {
    const { hostname } = hostnameOfField(name, 'names');
    const why = known.refusal(hostname);
    if (why === null) return hostname;
    refuse(why);
  } catch (error) {
    if (!(error instanceof Fault && error.code === 'invalid_request')) throw error;
    refuse(error.message);
  }
  return null;
}

type Refuse = (path: PropertyKey[], message: string) => void;

/** Normalizes a rule to the form in which answers are recorded; null after a problem. */
function normalRule(signal: TrackedName, rule: z.output<typeof RuleBody>, known: Known, refuse: Refuse): Rule | null {
  let isRight = true;
  const wrong: Refuse = (path, message) => {
    isRight = false;
    refuse(path, message);
  };
  const kinds = KINDS.filter((kind) => rule[kind] !== undefined);
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) {
    wrong([], `has ${kinds.length === 0 ? 'no rule' : kinds.join(' and ')}; give one of ${KINDS.join(', ')}`);
    return null;
  }
  if (rule.subset !== undefined && kind !== 'values')
    wrong(['subset'], `goes with values, not with ${kind}; take it out`);
  const of = `does not fit ${signal}`;
  const texts = (kind === 'as' ? [] : rule[kind]) ?? [];
  for (const [index, text] of texts.entries()) {
    if (text.trim() === '*') wrong([kind, index], 'matches everything; name what is expected, or take the rule out');
  }
  const each = (normal: (text: string, index: number) => string | null): string[] => {
    const list = texts.map((text, index) => (text.trim() === '*' ? null : normal(text, index)));
    return [...new Set(list.filter((text) => text !== null))].sort();
  };
  const made = ((): Rule => {
    switch (kind) {
      case 'values': {
        if (signal === 'CERTIFICATE' && texts.length > 0) {
          wrong([kind], `${of}: a certificate is renewed; give issuers, or no values where there is to be none`);
        }
        if (rule.subset === true && texts.length === 0) wrong(['subset'], 'of no values is nothing; leave it out');
        const values = each((text, index) => {
          const value = normalValue(signal, text);
          if (value === null) wrong([kind, index], `is not a value of ${signal}; write it as answers have it`);
          return value;
        });
        return { values, ...(rule.subset === true ? { subset: true } : {}) };
      }
      case 'prefixes': {
        const family = FAMILY[signal];
        if (signal === 'CERTIFICATE') wrong([kind], `${of}; give issuers`);
        const prefixes = each((text, index) => {
          const prefix = family === undefined ? beginning(signal, text) : normalNetwork(family, text);
          if (prefix === null) {
            const example = family === 4 ? '192.0.2.0/24' : '2001:db8::/32';
            const isEmpty = text.trim() === '';
            const [not, cure] =
              family !== undefined
                ? ['is not a network', `give a network of IPv${family}, such as ${example}`]
                : [
                    `begins no value of ${signal}`,
                    isEmpty ? 'give how each value begins' : 'write it as answers have it',
                  ];
            wrong([kind, index], `${isEmpty ? 'matches everything' : not}; ${cure}`);
          }
          return prefix;
        });
        if (family !== undefined && coversAll(prefixes, family)) {
          wrong([kind], 'match every address; give the networks that are expected');
        }
        return { prefixes };
      }
      case 'as':
        if (FAMILY[signal] === undefined) wrong([kind], `${of}: only addresses have an origin; take it out`);
        else if (!known.hasOrigins) {
          wrong([kind], 'this service has no table of origins (AS_TABLE); give prefixes, or ask its operator for one');
        }
        return { as: [...new Set(rule.as)].sort((a, b) => a - b) };
      case 'issuers':
        if (signal !== 'CERTIFICATE') wrong([kind], `${of}: only CERTIFICATE has an issuer; take it out`);
        return {
          issuers: each((text, index) => {
            if (text.trim() === '') wrong([kind, index], 'is empty; name an issuer, as /issuers has it');
            return text.trim();
          }),
        };
      case 'providers':
        if (!HOSTS.includes(signal)) wrong([kind], `${of}; give them for ${HOSTS.join(', ')}`);
        return {
          providers: each((text, index) => {
            const provider = providerIn(text);
            if (provider === null) {
              wrong([kind, index], 'is not a service of /services, nor the domain of hosts; give one');
            }
            return provider;
          }),
        };
    }
  })();
  return isRight ? made : null;
}
