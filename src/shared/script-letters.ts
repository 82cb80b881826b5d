/** Languages in these scripts: their pages show Latin letters in a system font. `tokens.css` repeats the list. */
export const SCRIPT_LANGUAGES: readonly string[] = ['ar', 'fa', 'he', 'hi', 'ja', 'ko', 'ur', 'zh'];

/**
 * The families of `media/script-fonts.ts` as a list for `font-family`, for systems without a font for these scripts.
 * `tokens.css` and `embed.css` have parts of it.
 */
export const SCRIPT_FAMILIES =
  'amiri, frank-ruhl-libre, noto-serif-devanagari, biz-udmincho, song-myung, noto-serif-sc, script-room';

/** Hebrew, Arabic, Devanagari, Hangul, kana, ideographs and their punctuation: no typeface of a paper has them. */
const SCRIPTS =
  '\\u0590-\\u06ff\\u0750-\\u077f\\u08a0-\\u097f\\u1100-\\u11ff\\u2e80-\\u9fff\\uac00-\\ud7af\\uf900-\\ufaff\\ufb1d-\\ufdff\\ufe30-\\ufe4f\\ufe70-\\ufeff\\uff00-\\uffef\\u{20000}-\\u{3ffff}';
/** Chinese, Japanese and Korean, as a `unicode-range`. */
export const CJK_RANGE = 'U+1100-11FF,U+2E80-9FFF,U+AC00-D7AF,U+F900-FAFF,U+FE30-FE4F,U+FF00-FFEF,U+20000-3FFFF';
const ANY = new RegExp(`[${SCRIPTS}]`, 'u');
/** The first code unit of `SCRIPTS`. */
const FIRST = 0x590;

/** Whether a text has a letter that no typeface of a paper has: its page needs `fonts.css`. */
export const needsScriptFonts = (text: string): boolean => ANY.test(text);

/** The letters of a text that no typeface of a paper has, each once. */
export function scriptLetters(text: string): Set<string> {
  const found = new Set<string>();
  /** The code units that were looked at. A page has thousands of letters, and few hundred different ones. */
  const known = new Uint8Array(0x10000);
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < FIRST || known[unit] === 1) continue;
    const letter = String.fromCodePoint(text.codePointAt(at) ?? 0);
    if (letter.length === 1) known[unit] = 1;
    else at++;
    if (ANY.test(letter)) found.add(letter);
  }
  return found;
}

/** The link of a paper's page to its `fonts.css`. */
export const FONTS_LINK = /<link rel="stylesheet" href="[^"]*\/fonts\.css">/;

/** Removes that link from a page that does not need it. */
export const withFontsNeeded = (page: string): string => (needsScriptFonts(page) ? page : page.replace(FONTS_LINK, ''));
