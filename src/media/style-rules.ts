import { tokenize, tokenTypes } from 'css-tree/tokenizer';

/**
 * What a paper's stylesheet may set: the look of texts and boxes, and the space above and below them, but nothing that
 * moves, hides, clips or covers them. The mark of an AI persona (`layouts/mark.css`) sets its own properties; this list
 * keeps the elements around it from hiding it.
 */

/** The smallest and the largest value by unit; a number has the unit ''. */
type Bounds = Readonly<Record<string, readonly [number, number]>>;

/** Relative sizes only shrink, because in nested boxes larger ones would grow without bounds. */
const SIZE: Bounds = { px: [8, 128], rem: [0.5, 8], em: [0.5, 1], '%': [50, 100], vw: [0, 12] };
const ROOM: Bounds = { '': [0, 0], px: [0, 128], rem: [0, 8], em: [0, 8], vw: [0, 12] };
const GAP: Bounds = { '': [0, 0], px: [0, 64], rem: [0, 4], vw: [0, 6] };
const LINE: Bounds = { '': [0, 0], px: [0, 8], rem: [0, 0.5], em: [0, 0.5] };
const STROKE: Bounds = { '': [0, 0], px: [0, 4], em: [0, 0.2] };
const LEADING: Bounds = { '': [0.8, 3], '%': [80, 300], em: [0.8, 3] };
const TRACKING: Bounds = { '': [0, 0], px: [-2, 8], em: [-0.1, 0.5] };
const PAGE: Bounds = { px: [640, 3840], rem: [40, 240] };

const words = (text: string): string[] => text.trim().split(/\s+/);

const EDGES = words(
  '-top -right -bottom -left -block -block-start -block-end -inline -inline-start -inline-end',
).concat('');

const FREE = new Set([
  ...words(`color background background-color background-image background-position background-position-x
    background-position-y background-size background-repeat background-origin background-attachment
    box-shadow text-shadow fill stroke caret-color accent-color color-scheme scrollbar-color cursor
    object-fit object-position print-color-adjust font-family font-weight font-style font-stretch font-variant
    font-variant-alternates font-variant-caps font-variant-east-asian font-variant-ligatures font-variant-numeric
    font-feature-settings font-variation-settings font-kerning font-optical-sizing font-synthesis text-align
    text-transform text-rendering text-decoration-color text-decoration-style text-decoration-skip-ink hyphens
    transition transition-property transition-duration transition-delay transition-timing-function border-radius
    border-top-left-radius border-top-right-radius border-bottom-left-radius border-bottom-right-radius
    border-start-start-radius border-start-end-radius border-end-start-radius border-end-end-radius
    outline-color outline-style -webkit-font-smoothing -moz-osx-font-smoothing`),
  ...EDGES.flatMap((edge) => [`border${edge}-color`, `border${edge}-style`]),
]);

/** Properties with lengths, and their bounds. */
const BOUNDED = new Map<string, Bounds>([
  ['font-size', SIZE],
  ['line-height', LEADING],
  ['letter-spacing', TRACKING],
  ['row-gap', ROOM],
  ['text-decoration', STROKE],
  ['text-decoration-line', STROKE],
  ['text-decoration-thickness', STROKE],
  ['text-underline-offset', STROKE],
  ...['margin', 'padding'].flatMap((name) =>
    ['-top', '-bottom', '-block', '-block-start', '-block-end'].map((edge) => [name + edge, ROOM] as const),
  ),
  ...EDGES.flatMap((edge) => [`border${edge}`, `border${edge}-width`].map((name) => [name, LINE] as const)),
  ['outline', LINE],
  ['outline-width', LINE],
  ['--gap', GAP],
  ['--page', PAGE],
]);

/** Custom properties of `layouts/tokens.css` that hold a colour. */
export const COLOR_TOKENS: ReadonlySet<string> = new Set(
  words('paper sheet ink ink-soft ink-faint rule accent plate wash band band-ink band-soft').map((name) => `--${name}`),
);
/** Custom properties with which Broadsheet's own stylesheets lay out a page. */
const RESERVED = new Set(['--measure', '--margin']);

/** Lines that would strike out a mark inside the box, and a size that would grow in nested boxes. */
const BARRED = new Set(['larger', 'line-through', 'overline', 'blink', 'spelling-error', 'grammar-error']);

/** Functions whose result is a colour, whatever their arguments. */
const COLORS = new Set(words('rgb rgba hsl hsla hwb lab lch oklab oklch color color-mix light-dark'));
/** Functions whose result lies between their arguments. */
const BETWEEN = new Set(['clamp', 'min', 'max']);

/** The longest ornament in `content`, in UTF-16 units: even at the largest size, it is not wider than a phone. */
const ORNAMENT_MAX = 2;

/** The rules for one stylesheet. `definitions` has its custom properties, each with every value that it is given. */
export class StyleRules {
  readonly #definitions: ReadonlyMap<string, readonly string[]>;
  /** Custom properties that may exceed these bounds. */
  readonly #beyond = new Map<Bounds, ReadonlySet<string>>();

  constructor(definitions: ReadonlyMap<string, readonly string[]>) {
    this.#definitions = definitions;
  }

  /** What is wrong with a declaration, and the remedy; null for an allowed one. */
  fault(property: string, value: string): string | null {
    const name = property.startsWith('--') ? property : property.toLowerCase();
    if (/[{}]/.test(value)) return `gives ${name} a block; end the declaration before it with ;`;
    if (RESERVED.has(name)) return `sets ${name}, by which Broadsheet lays out the page; take it out`;
    const bounds = BOUNDED.get(name);
    if (bounds !== undefined) {
      if (this.#isWithin(value, bounds)) return null;
      return `sets ${name} to ${JSON.stringify(value.slice(0, 80))}; give it ${inWords(bounds)}, without calc()${bounds === STROKE ? ', as an underline' : ''}`;
    }
    if (name === 'content') {
      if (isOrnament(value)) return null;
      return 'sets content to more than an ornament; use one or two narrow characters other than letters and digits';
    }
    if (name.startsWith('--') || FREE.has(name)) return null;
    return `sets ${name}, which could move, hide or cover the mark of an AI persona; take it out (docs/writing.md lists what a stylesheet may set)`;
  }

  #isWithin(value: string, bounds: Bounds): boolean {
    const { isSound, names } = read(value, bounds);
    return isSound && names.every((name) => this.#isSafe(name, bounds));
  }

  #isSafe(name: string, bounds: Bounds): boolean {
    if (!this.#definitions.has(name)) return COLOR_TOKENS.has(name);
    const beyond = this.#beyond.get(bounds) ?? this.#namesBeyond(bounds);
    this.#beyond.set(bounds, beyond);
    return !beyond.has(name);
  }

  /** Custom properties whose values exceed the bounds, and all that refer to those, directly or not. */
  #namesBeyond(bounds: Bounds): Set<string> {
    const beyond = new Set<string>();
    const users = new Map<string, string[]>();
    for (const [name, values] of this.#definitions) {
      for (const value of values) {
        const { isSound, names } = read(value, bounds);
        if (!isSound) beyond.add(name);
        for (const used of names) {
          if (!this.#definitions.has(used) && !COLOR_TOKENS.has(used)) beyond.add(name);
          const known = users.get(used);
          if (known === undefined) users.set(used, [name]);
          else known.push(name);
        }
      }
    }
    // A set's iterator also visits the names that are added during the loop.
    for (const name of beyond) for (const user of users.get(name) ?? []) beyond.add(user);
    return beyond;
  }
}

/** Whether all lengths of a value are within bounds, and the custom properties that it names. */
function read(value: string, bounds: Bounds): { isSound: boolean; names: string[] } {
  let isSound = true;
  const names: string[] = [];
  /** Names of the open functions and brackets. */
  const open: string[] = [];
  let colors = 0;
  tokenize(value, (type, start, end) => {
    const token = value.slice(start, end);
    const name = type === tokenTypes.Function ? token.slice(0, -1).toLowerCase() : '';
    if (token === ')') {
      if (COLORS.has(open.pop() ?? '')) colors--;
    } else if (name !== '' || token === '(') {
      open.push(name);
      if (COLORS.has(name)) colors++;
      else if (colors === 0 && name !== 'var' && !BETWEEN.has(name)) isSound = false;
    } else if (colors > 0) return;
    else if (type === tokenTypes.Ident && token.startsWith('--')) names.push(token);
    else if (BARRED.has(token.toLowerCase())) isSound = false;
    else if (type === tokenTypes.Number || type === tokenTypes.Percentage || type === tokenTypes.Dimension)
      isSound &&= inBounds(token.toLowerCase(), bounds);
    else if (type === tokenTypes.Delim) isSound = false;
  });
  return { isSound, names };
}

/** Whether a number with its unit is within the bounds of that unit. */
function inBounds(token: string, bounds: Bounds): boolean {
  const isIn = (unit: string) => token.endsWith(unit) && /[\d.]/.test(token.at(-unit.length - 1) ?? '');
  const [least, most] = Object.entries(bounds).find(([unit]) => isIn(unit))?.[1] ?? [0, 0];
  const amount = Number.parseFloat(token);
  return amount >= least && amount <= most;
}

function inWords(bounds: Bounds): string {
  return Object.entries(bounds)
    .filter(([, [, most]]) => most > 0)
    .map(([unit, [least, most]]) => `${least} to ${most}${unit}`)
    .join(', ');
}

/** Whether a value of `content` is a keyword, or strings without letters and digits and of `ORNAMENT_MAX` together. */
function isOrnament(value: string): boolean {
  let isSound = true;
  let length = 0;
  tokenize(value, (type, start, end) => {
    const token = value.slice(start, end);
    if (type === tokenTypes.String) {
      const text = token.slice(1, -1).replace(ESCAPE, (_all, code: string) => fromHex(code));
      length += text.length;
      isSound &&= !NO_ORNAMENT.test(text);
    } else if (type === tokenTypes.Ident) isSound &&= /^(?:none|normal|(?:no-)?(?:open|close)-quote)$/i.test(token);
    else isSound &&= token === '/' || token.trim() === '';
  });
  return isSound && length <= ORNAMENT_MAX;
}

/** Letters, digits, invisible characters, and characters of several ems: long dashes, and U+FDFD, a whole sentence. */
const NO_ORNAMENT = /[\p{L}\p{N}\p{C}\\\u2e3a\u2e3b\ufdfd]/u;
const ESCAPE = /\\([0-9a-f]{1,6})\s?/gi;
const fromHex = (code: string): string => String.fromCodePoint(Math.min(Number.parseInt(code, 16), 0x10ffff));
