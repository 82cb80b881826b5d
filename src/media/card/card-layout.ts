import type { Font } from 'satori';
import { en } from '../../phrases/en.ts';
import { fill } from '../../phrases/fill.ts';
import { phrasesOf } from '../../phrases/tables.ts';
import { CARD_HEIGHT, CARD_WIDTH, type Card, declarationOf } from './card.ts';
import { deepPalette } from './card-color.ts';
import { type TypesetText, typeset } from './card-fonts.ts';
import { fitLines } from './card-lines.ts';

const MARGIN = 64;
const MEASURE = CARD_WIDTH - 2 * MARGIN;
const HEADLINE_SIZES = [108, 98, 90, 82, 75, 68, 62, 56, 51, 47, 43];
const HEADLINE_HEIGHT = 318;
/** Line height of the single lines, in ems. */
const LEADING = 1.3;
/** The height that the writer's line takes away from the headline. */
const WRITER_HEIGHT = 46;
/** Kerned text may be slightly wider than the sum of its advances. */
const KERNING_SLACK = 1.01;
const RIGHT_TO_LEFT = /^\P{L}*[\p{Script=Arabic}\p{Script=Hebrew}]/u;

/**
 * Line height and letter spacing of a text, in ems; `spread` is the CSS letter spacing of the section's name. Letters
 * that join cannot be spaced; full-width letters and stacked marks need more leading.
 */
function shapeOf(text: string): { leading: number; tracking: number; spread: string } {
  if (/[\p{Script=Arabic}\p{Script=Devanagari}]/u.test(text)) return { leading: 1.42, tracking: 0, spread: '0' };
  const apart = !/[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hebrew}]/u.test(text);
  return apart
    ? { leading: 1.08, tracking: -0.012, spread: '0.09em' }
    : { leading: 1.26, tracking: 0, spread: '0.09em' };
}

/** Composes a card: the element that satori draws, and the fonts that it needs. */
export function compose(card: Card): { element: Element; fonts: Font[] } {
  const language = knownLanguage(card.language);
  const serif = (text: string) => typeset(text, 'serif', language);
  const sans = (text: string) => typeset(text, 'sans', language);

  const t = phrasesOf(card.language).byline;

  const nameplate = serif(card.nameplate);
  const headline = serif(card.headline);
  const section = sans(card.category.toLocaleUpperCase(language));
  const writer = sans(card.writer === null ? '' : fill(t.by, { writer: card.writer }));
  const byline = sans(card.writer === null ? card.byline : fill(t.brought_in, { persona: card.byline }));
  const declaration = sans(declarationOf(card));
  // The declaration is never left out: where no font has its letters, it is in English.
  const label = drawable(declaration) ? declaration : sans(en.byline.persona);
  const spelled = sans(spelledDay(card.day, language));
  const date = drawable(spelled) ? spelled : sans(card.day);
  const initial = serif(initialOf(nameplate.text).toLocaleUpperCase(language));

  const { ground, shade, tint, ink } = deepPalette(card.hue);

  const line = (set: TypesetText, style: Style): Element[] => {
    if (!drawable(set)) return [];
    const direction = RIGHT_TO_LEFT.test(set.text) ? 'rtl' : 'ltr';
    return [
      box(
        { fontFamily: set.family.join(', '), fontWeight: set.weight, whiteSpace: 'nowrap', direction, ...style },
        set.text,
      ),
    ];
  };

  const shape = shapeOf(headline.text);
  const fitted = fitLines(
    headline.text,
    language,
    {
      width: MEASURE,
      height: HEADLINE_HEIGHT - (card.writer === null ? 0 : WRITER_HEIGHT),
      sizes: HEADLINE_SIZES,
      leading: shape.leading,
    },
    (part) => headline.width(part) * KERNING_SLACK + part.length * shape.tracking,
  );
  const lines = drawable(headline) ? fitted.lines : [];
  const direction = RIGHT_TO_LEFT.test(lines[0] ?? nameplate.text) ? 'rtl' : 'ltr';

  const element = box(
    { width: '100%', height: '100%', position: 'relative', direction, color: ink, backgroundColor: ground },
    ...line(initial, {
      position: 'absolute',
      [direction === 'ltr' ? 'right' : 'left']: -24,
      top: -250,
      fontSize: 860,
      lineHeight: 1.3,
      color: shade,
    }),
    box(
      {
        position: 'absolute',
        top: 0,
        left: 0,
        width: CARD_WIDTH,
        height: CARD_HEIGHT,
        boxSizing: 'border-box',
        flexDirection: 'column',
        padding: `40px ${MARGIN}px 44px`,
      },
      box(
        { justifyContent: 'space-between', alignItems: 'flex-end' },
        box(
          {},
          ...line(nameplate, {
            fontSize: fitSize(nameplate, 46, 740),
            lineHeight: LEADING,
            letterSpacing: `${shapeOf(nameplate.text).tracking}em`,
          }),
        ),
        box({}, ...line(date, { fontSize: 26, lineHeight: 1.7, color: tint })),
      ),
      box({ height: 5, marginTop: 8, backgroundColor: ink }),
      box({ height: 1, marginTop: 4, backgroundColor: ink }),
      box(
        { flexDirection: 'column', flexGrow: 1, justifyContent: 'center', alignItems: 'flex-start' },
        ...line(section, {
          fontSize: lines.length > 0 ? 28 : fitSize(section, 96, MEASURE),
          letterSpacing: shapeOf(section.text).spread,
          lineHeight: LEADING,
          marginBottom: 12,
          color: tint,
        }),
        ...lines.flatMap((text) =>
          line(
            { ...headline, text },
            { fontSize: fitted.size, lineHeight: shape.leading, letterSpacing: `${shape.tracking}em` },
          ),
        ),
      ),
      ...line(writer, { fontSize: fitSize(writer, 34, MEASURE), lineHeight: LEADING }),
      box(
        { alignItems: 'center', gap: 18 },
        ...line(byline, { fontSize: fitSize(byline, card.writer === null ? 30 : 26, 820), lineHeight: LEADING }),
        ...line(label, {
          fontSize: 22,
          lineHeight: 1,
          padding: '8px 14px',
          borderRadius: 5,
          color: ground,
          backgroundColor: tint,
        }),
      ),
    ),
  );
  const texts = [initial, nameplate, date, section, headline, writer, byline, label];
  return { element, fonts: fontsOf(texts.filter(drawable)) };
}

/** The fonts of some texts. Equal fonts share one array: satori parses each array once. */
function fontsOf(texts: readonly TypesetText[]): Font[] {
  const fonts = new Map(texts.flatMap((set) => set.fonts).map((font) => [font.name, font]));
  const names = [...fonts.keys()].join();
  const known = fontSets.get(names) ?? [...fonts.values()];
  fontSets.set(names, known);
  return known;
}

/** Keyed by the names of the fonts. There are few sets: a script has one or two subsets of a typeface. */
const fontSets = new Map<string, Font[]>();

/** The paper's initial: the first letter of its name after any article. */
function initialOf(nameplate: string): string {
  const name = nameplate.replace(/^(?:the|an?|el|l[aeo]s?|il|der|die|das|os?|as)\s+(?=\p{L})/iu, '');
  return /\p{L}/u.exec(name)?.[0] ?? '';
}

function drawable(set: TypesetText): boolean {
  return set.text !== '' && set.missing.length === 0;
}

/** The largest size, up to `size`, at which a single line fits the width. */
function fitSize(set: TypesetText, size: number, width: number): number {
  return Math.floor(Math.min(size, width / (set.width(set.text) * 1.1 || 1)));
}

/** A language tag in canonical form; `en` for a tag that Intl does not know. */
export function knownLanguage(tag: string): string {
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? 'en';
  } catch {
    return 'en';
  }
}

function spelledDay(day: string, language: string): string {
  const format = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC', calendar: 'gregory' });
  return format.format(new Date(`${day}T00:00:00Z`));
}

type Style = Record<string, string | number>;

interface Element {
  type: 'div';
  props: { style: Style; children: (Element | string)[] };
}

/** A box as satori draws it. */
export function box(style: Style, ...children: (Element | string)[]): Element {
  return { type: 'div', props: { style: { display: 'flex', ...style }, children } };
}
