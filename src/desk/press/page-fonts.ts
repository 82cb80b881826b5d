import { pageFonts, roomFonts, smallRooms } from '../../media/script-fonts.ts';
import { sha256 } from '../../proof/basis.ts';
import { FONTS_LINK, scriptLetters } from '../../shared/script-letters.ts';
import type { Site } from './edition.ts';
import type { RenderedFile } from './output.ts';

/** The rules for alphabets, which have one font per paper, and for the blank fonts that reserve space (`roomFonts`). */
export const ALPHABETS_CSS = 'alphabets.css';

/** Adds to the files of an output a separate font for each page with ideographs, kana or Hangul. */
export function withPageFonts(files: readonly RenderedFile[], { base }: Site): RenderedFile[] {
  return files.flatMap((file) => {
    if (!('body' in file) || typeof file.body !== 'string' || !file.path.endsWith('.html')) return file;
    const { path, body } = file;
    if (!FONTS_LINK.test(body)) return file;
    const { sheets, rooms, own } = fontsOf(path, body);
    const links = sheets.map((css) => `<link rel="stylesheet" href="${base}/${css}">`).join('');
    const preloads = rooms.map(
      (url) =>
        `<link rel="preload" as="font" type="font/woff2" crossorigin href="${url.startsWith('data:') ? url : `${base}/${url}`}">`,
    );
    // Before all stylesheets, so that a room is there when they are: browsers wait a tenth of a second more for it.
    const linked = body.replace(FONTS_LINK, () => links).replace('<link ', (link) => preloads.join('') + link);
    return [...own, { path, body: linked }];
  });
}

/** The font files that `withPageFonts` added for a page. `body` is the page as it is in the tree. */
export function fontsBeside(path: string, body: string, { base }: Site): RenderedFile[] {
  return body.includes(`<link rel="stylesheet" href="${base}/${ALPHABETS_CSS}">`) ? fontsOf(path, body).own : [];
}

/** The stylesheets of a page's fonts, the blank fonts that it loads first, as paths or URLs, and the files that it needs. */
function fontsOf(path: string, body: string): { sheets: string[]; rooms: string[]; own: RenderedFile[] } {
  const shown = body.slice(body.indexOf('<body'));
  const all = scriptLetters(shown);
  const seen = scriptLetters(shown.replace(UNSEEN, ''));
  const late = [...all].filter((letter) => !seen.has(letter)).join('');
  const letters = [...all].join('');
  const fonts = pageFonts(path, letters, languageOf(body), late);
  const rooms = roomFonts(letters);
  const sheets = [ALPHABETS_CSS];
  const own: RenderedFile[] = [
    ...fonts.map(({ path, bytes }) => ({ path, draw: bytes })),
    ...rooms.map(({ path, bytes }) => ({ path, draw: bytes, isShared: true as const })),
  ];
  if (fonts.length > 0) {
    // The stylesheet is in the same folder as the fonts.
    const rules = fonts.map(({ rule }) => rule.replace('url("fonts/', 'url("')).join('');
    const css = `fonts/${sha256(`${path} ${rules}`).slice('sha256:'.length, 'sha256:'.length + 16)}.css`;
    sheets.push(css);
    own.push({ path: css, body: rules });
  }
  return { sheets, rooms: [...rooms.map(({ path }) => path), ...smallRooms(letters).map(({ url }) => url)], own };
}

/** What only a script shows, when a reader asks it for something, and what is read out. */
const UNSEEN = / (?:aria-label|data-[a-z-]+)="[^"]*"/g;

const LANGUAGES = / lang="((?:ja|ko|zh)(?:-[^"]*)?)"/;
const OF_PAGE = /<html lang="([^"]*)"/;

/** The first language with ideographs that the page or a text on it declares, else the page's language. */
function languageOf(body: string): string {
  return (LANGUAGES.exec(body) ?? OF_PAGE.exec(body))?.[1] ?? 'en';
}
