import satori, { type Font } from 'satori';
import sharp from 'sharp';
import { contentHash } from '../ledger/basis.ts';
import { hueColor } from './card-color.ts';
import { type SetText, setText } from './card-fonts.ts';
import { fitLines } from './card-lines.ts';

/** Grows when a card of the same words would look different, so that its file gets a new name. */
const TEMPLATE = 1;

export const CARD_WIDTH = 1200;
export const CARD_HEIGHT = 630;

/** The words that declare the persona, as on the story page. */
const LABEL = 'AI persona';

/** Everything that a share card shows. */
export interface Card {
  nameplate: string;
  headline: string;
  /** The section's name. */
  category: string;
  /** The persona's name. */
  byline: string;
  /** YYYY-MM-DD, in UTC. */
  day: string;
  /** The paper's hue, an angle on the OKLCH wheel. */
  hue: number;
  /** BCP 47 tag of the piece: it chooses the typefaces, the line breaks and the form of the date. */
  language: string;
}

/** 16 hex digits that name a card by what it shows: `cards/{id}-{digest}.png`. */
export function cardDigest(card: Card): string {
  const { nameplate, headline, category, byline, day, hue, language } = card;
  const shown = { template: TEMPLATE, nameplate, headline, category, byline, day, hue, language };
  return contentHash(shown).slice('sha256:'.length, 'sha256:'.length + 16);
}

/**
 * The characters of a text that no typeface of the cards can draw. A line that
 * has any is left off the card as a whole: a headline in such a script gives a
 * card of the nameplate, the section and the date. Emoji are not counted; they
 * are left out of the line.
 */
export function uncovered(text: string, language = 'en'): string[] {
  return setText(text, 'serif', language).uncovered;
}

/** Draws a card as PNG, 1200 × 630. The same card gives the same bytes. */
export async function drawCard(card: Card): Promise<Uint8Array> {
  const { element, fonts } = compose(card);
  const svg = await satori(element as never, { width: CARD_WIDTH, height: CARD_HEIGHT, fonts });
  return sharp(Buffer.from(svg)).png(PNG).toBuffer();
}

const PNG = { palette: true, colours: 64, dither: 0, effort: 1, compressionLevel: 9 } as const;

const MARGIN = 64;
const MEASURE = CARD_WIDTH - 2 * MARGIN;
const HEADLINE_SIZES = [108, 98, 90, 82, 75, 68, 62, 56, 51, 47, 43];
const HEADLINE_HEIGHT = 318;
/** Ems from base line to base line; scripts that fill their square need more air. */
const LEADING = { latin: 1.08, dense: 1.26 };

function compose(card: Card): { element: Element; fonts: Font[] } {
  const language = knownLanguage(card.language);
  const serif = (text: string) => setText(text, 'serif', language);
  const sans = (text: string) => setText(text, 'sans', language);

  const nameplate = serif(card.nameplate);
  const headline = serif(card.headline);
  const section = sans(card.category.toLocaleUpperCase(language));
  const byline = sans(card.byline);
  const label = sans(LABEL);
  const spelled = sans(spelledDay(card.day, language));
  const date = drawable(spelled) ? spelled : sans(card.day);
  const initial = serif([...nameplate.text][0]?.toLocaleUpperCase(language) ?? '');

  const ground = hueColor(0.34, 0.13, card.hue);
  const shade = hueColor(0.39, 0.14, card.hue);
  const tint = hueColor(0.84, 0.1, card.hue);
  const paper = hueColor(0.98, 0.012, card.hue);

  const used: SetText[] = [];
  const line = (set: SetText, style: Style): Element[] => {
    if (!drawable(set)) return [];
    used.push(set);
    return [box({ fontFamily: set.family.join(', '), whiteSpace: 'nowrap', ...style }, set.text)];
  };

  const dense = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(headline.text);
  const leading = dense ? LEADING.dense : LEADING.latin;
  const tracking = dense ? 0 : -0.012;
  const fitted = fitLines(
    headline.text,
    language,
    { width: MEASURE, height: HEADLINE_HEIGHT, sizes: HEADLINE_SIZES, leading },
    (part) => headline.width(part) * 1.01 + part.length * tracking,
  );
  const matter = drawable(headline) ? fitted.lines : [];
  if (matter.length > 0) used.push(headline);

  const element = box(
    { width: '100%', height: '100%', flexDirection: 'column', padding: `44px ${MARGIN}px 40px`, backgroundColor: ground, color: paper },
    ...line(initial, { position: 'absolute', right: -30, top: -170, fontSize: 820, lineHeight: 1, color: shade }),
    box(
      { justifyContent: 'space-between', alignItems: 'flex-end' },
      box({}, ...line(nameplate, { fontSize: fitSize(nameplate, 46, 760), lineHeight: 1.2, letterSpacing: '-0.01em' })),
      ...line(date, { fontSize: 23, lineHeight: 1.75, color: tint }),
    ),
    box({ height: 5, marginTop: 10, backgroundColor: paper }),
    box({ height: 1, marginTop: 4, backgroundColor: paper }),
    box(
      { flexDirection: 'column', flexGrow: 1, justifyContent: 'center' },
      ...line(section, {
        fontSize: matter.length > 0 ? 24 : fitSize(section, 84, MEASURE),
        letterSpacing: '0.09em',
        lineHeight: 1.3,
        marginBottom: 12,
        color: tint,
      }),
      ...matter.map((text) =>
        box(
          {
            fontFamily: headline.family.join(', '),
            fontSize: fitted.size,
            lineHeight: leading,
            letterSpacing: `${tracking}em`,
            whiteSpace: 'nowrap',
          },
          text,
        ),
      ),
    ),
    box(
      { alignItems: 'center' },
      ...line(byline, { fontSize: fitSize(byline, 27, 820), lineHeight: 1.3, marginRight: 18 }),
      ...line(label, {
        fontSize: 21,
        lineHeight: 1,
        padding: '8px 14px 8px',
        borderRadius: 5,
        color: ground,
        backgroundColor: tint,
      }),
    ),
  );
  const fonts = new Map(used.flatMap((set) => set.fonts).map((font) => [font.name, font]));
  return { element, fonts: [...fonts.values()] };
}

function drawable(set: SetText): boolean {
  return set.text !== '' && set.uncovered.length === 0;
}

/** The size at which a line of its own fits a width. */
function fitSize(set: SetText, size: number, width: number): number {
  return Math.floor(Math.min(size, width / (set.width(set.text) * 1.1 || 1)));
}

function knownLanguage(tag: string): string {
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? 'en';
  } catch {
    return 'en';
  }
}

function spelledDay(day: string, language: string): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC', calendar: 'gregory' }).format(
    new Date(`${day}T00:00:00Z`),
  );
}

type Style = Record<string, string | number>;

interface Element {
  type: 'div';
  props: { style: Style; children: (Element | string)[] };
}

function box(style: Style, ...children: (Element | string)[]): Element {
  return { type: 'div', props: { style: { display: 'flex', ...style }, children } };
}
