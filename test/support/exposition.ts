/** A sample of a metric. */
export interface Sample {
  name: string;
  labels: Map<string, string>;
  value: number;
}

/** A metric with its samples, as one `# TYPE` begins it. */
export interface Family {
  help: string;
  type: string;
  samples: Sample[];
}

export type Families = Map<string, Family>;

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const LABEL = '[a-zA-Z_][a-zA-Z0-9_]*';
/** The numbers that Go's ParseFloat accepts, with `NaN` and `Inf` in upper or lower case. */
const VALUE = /^(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?Inf|NaN)$/i;
const HELP = new RegExp(`^# HELP (${NAME}) (.+)$`);
const TYPE = new RegExp(`^# TYPE (${NAME}) (counter|gauge|histogram|summary|untyped)$`);
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (\\S+)$`);
const PAIR = new RegExp(`^(${LABEL})="((?:[^"\\\\\\n]|\\\\["\\\\n])*)"(?:,|$)`);

/**
 * Parses the text format of Prometheus (version 0.0.4) strictly, and checks what the format demands of each family:
 * one HELP and one TYPE before all its samples, which stand together; no series twice; counters and buckets that are
 * not negative; histograms with cumulative buckets up to `+Inf`, `_sum` and `_count`. Throws naming the line.
 */
export function parseExposition(text: string): Families {
  if (!text.endsWith('\n')) throw new Error('the last line must end with a line feed');
  const families: Families = new Map();
  const seen = new Set<string>();
  const helps = new Map<string, string>();
  let current: [string, Family] | null = null;
  for (const line of text.slice(0, -1).split('\n')) {
    const fail = (why: string): never => {
      throw new Error(`${why}: ${line}`);
    };
    if (line === '') continue;
    const help = HELP.exec(line);
    if (help !== null) {
      const [, name = '', words = ''] = help;
      if (helps.has(name)) fail('a second HELP');
      helps.set(name, words);
      continue;
    }
    const type = TYPE.exec(line);
    if (type !== null) {
      const [, name = '', kind = ''] = type;
      if (families.has(name)) fail('a second TYPE');
      current = [name, { help: helps.get(name) ?? fail('no HELP before TYPE'), type: kind, samples: [] }];
      families.set(...current);
      continue;
    }
    if (line.startsWith('#')) fail('a comment that says nothing');
    const [, name = '', pairs = '', value = ''] = SAMPLE.exec(line) ?? fail('no sample');
    if (!VALUE.test(value)) fail('no value');
    if (current === null) return fail('a sample before any TYPE');
    const [family, { type: kind, samples }] = current;
    const suffixes =
      kind === 'histogram' ? ['_bucket', '_sum', '_count'] : kind === 'summary' ? ['', '_sum', '_count'] : [''];
    if (!suffixes.some((suffix) => name === family + suffix)) fail(`a sample among those of ${family}`);
    const labels = labelsOf(pairs, fail);
    const series = `${name}${JSON.stringify([...labels].sort())}`;
    if (seen.has(series)) fail('a series twice');
    seen.add(series);
    const number = value.endsWith('Inf') ? Number(value.replace('Inf', 'Infinity')) : Number(value);
    if ((kind === 'counter' || kind === 'histogram') && !(number >= 0)) fail('a count below zero');
    samples.push({ name, labels, value: number });
  }
  for (const [name, family] of families) if (family.type === 'histogram') checkHistogram(name, family);
  return families;
}

function labelsOf(pairs: string, fail: (why: string) => never): Map<string, string> {
  const labels = new Map<string, string>();
  for (let rest = pairs; rest !== ''; ) {
    const [whole, label = '', value = ''] = PAIR.exec(rest) ?? fail('labels that cannot be read');
    if (labels.has(label)) fail('a label twice');
    labels.set(
      label,
      value.replace(/\\(.)/g, (_, char) => (char === 'n' ? '\n' : char)),
    );
    rest = rest.slice(whole.length);
  }
  return labels;
}

function checkHistogram(name: string, { samples }: Family): void {
  const withoutLe = ({ labels }: Sample) => JSON.stringify([...labels].filter(([label]) => label !== 'le').sort());
  for (const [series, of] of Map.groupBy(samples, withoutLe)) {
    const only = (suffix: string) => of.filter((sample) => sample.name === name + suffix);
    const buckets = only('_bucket').map(({ labels, value }) => ({ le: bound(labels.get('le')), value }));
    const [sum, count] = [only('_sum'), only('_count')];
    const isRising = buckets.every(({ le, value }, at) => {
      const before = buckets[at - 1];
      return before === undefined || (le > before.le && value >= before.value);
    });
    const last = buckets.at(-1);
    if (!isRising || last?.le !== Number.POSITIVE_INFINITY || sum.length !== 1 || count[0]?.value !== last.value) {
      throw new Error(`${name} is no histogram for ${series}`);
    }
  }
}

function bound(le: string | undefined): number {
  return le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le ?? Number.NaN);
}
