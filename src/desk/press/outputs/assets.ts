import { pressedCss } from '../../../media/inspect-css.ts';
import { alphabetFonts, roomFonts, type ScriptFont, scriptFonts, smallRooms } from '../../../media/script-fonts.ts';
import { standIn } from '../../../media/stand-in.ts';
import { pictureId, variantsOf } from '../../../media/variants.ts';
import { phrasesOf } from '../../../phrases/tables.ts';
import { scriptLetters } from '../../../shared/script-letters.ts';
import { dependencies } from '../../dependencies.ts';
import type { Media } from '../../papers/media.ts';
import { DEFAULT_THEME, isOfTheme } from '../../papers/themes.ts';
import { DEFAULT_TYPEFACES, needsAsset } from '../../papers/typefaces.ts';
import type { Edition } from '../edition.ts';
import { keysAfter, type Output, type RenderedFile, type RenderTools, singleOutput } from '../output.ts';
import { ALPHABETS_CSS } from '../page-fonts.ts';

/** The shared host's icon. At this address, each paper has its own. */
const ICON = 'favicon.svg';

/** The build's files, the same for every paper, and the paper's own styles: its hue, and its stylesheet. */
export const assets = singleOutput('assets', 'assets', async (edition, tools) => {
  const { hue, typefaces = DEFAULT_TYPEFACES, theme = DEFAULT_THEME, style } = edition.paper();
  const own = style === undefined ? null : edition.media(style);
  return [
    ...[...tools.assets()].filter(({ path }) => path !== ICON && needsAsset(path, typefaces) && isOfTheme(path, theme)),
    { path: 'hue.css', body: `:root{--hue:${hue}}\n` },
    ...(own === null ? [] : await styleOf(own, tools)),
  ];
});

/** Dates that cover all months and weekdays, because pages write their names. */
const DAYS = Array.from({ length: 12 }, (_, month) => new Date(Date.UTC(2026, month, month + 1)));

/**
 * `fonts.css` and its fonts, for pages with letters in scripts that the papers' typefaces lack; and `alphabets.css`, the
 * part of it that pressed pages need, which have separate fonts for ideographs (`page-fonts.ts`). Browsers load a font
 * when a page has one of its letters and the reader's system has no font for it.
 */
export const fonts = singleOutput('fonts', 'assets', (edition) => {
  const { language } = edition.paper();
  const days = new Intl.DateTimeFormat(language, { dateStyle: 'full', timeZone: 'UTC' });
  const words = `${JSON.stringify(phrasesOf(language))} ${DAYS.map((day) => days.format(day)).join(' ')}`;
  const texts = [{ language, letters: [...scriptLetters(words)].join('') }, ...edition.scriptLetters()];
  const all = texts.map(({ letters }) => letters).join('');
  const parts = new Map(
    texts.flatMap((text) => scriptFonts(text.letters, text.language)).map((one) => [one.path, one]),
  );
  const alphabets = alphabetFonts(all);
  const rooms = roomFonts(all);
  const sheet = (...fonts: ScriptFont[]) =>
    `/* For the scripts of this paper's texts. */\n${[...fonts, ...smallRooms(all)].map(({ rule }) => rule).join('')}`;
  return [
    ...[...alphabets, ...rooms, ...parts.values()].map(({ path, bytes }) => ({ path, draw: bytes })),
    { path: ALPHABETS_CSS, body: sheet(...alphabets, ...rooms) },
    { path: 'fonts.css', body: sheet(...alphabets, ...parts.values(), ...rooms) },
  ];
});

/**
 * The paper's own stylesheet. Corrected if necessary, because earlier versions accepted rules that could hide the mark
 * of an AI persona.
 */
async function styleOf(own: Media, { pictures }: RenderTools): Promise<RenderedFile[]> {
  if (own.missing) return shown('style.css', own);
  const text = new TextDecoder().decode(await pictures.original(own));
  const pressed = pressedCss(text);
  return [pressed === text ? { path: 'style.css', copy: own.digest } : { path: 'style.css', body: pressed }];
}

/** A media file, at the path under which it was filed. The address stays the same when the content changes. */
export const media: Output = {
  kind: 'media',
  stage: 'assets',
  paths: /^(media\/.+)$/,
  keysForDependency: keysAfter(dependencies.media('')),
  allKeys: (edition) => edition.archive.mediaPaths(),
  print(edition, path) {
    const found = edition.media(path);
    return found === null ? null : shown(path, found);
  },
};

/** A media file at a path, or its stand-in; nothing for a missing video. */
async function shown(path: string, media: Media): Promise<RenderedFile[]> {
  if (!media.missing) return [{ path, copy: media.digest }];
  const body = await standIn(media);
  return body === null ? [] : [{ path, body }];
}

/** Whether a path can be a picture with variants. Other files are not checked for variants. */
const isPicturePath = (path: string): boolean => /\.(?:jpe?g|png|webp|avif)$/i.test(path);

function picturePaths({ archive }: Edition): string[] {
  return archive.mediaPaths().filter(isPicturePath);
}

/** The media path of each picture, by the id in the names of its variants. Identical pictures share an entry. */
export function mediaByPictureId(edition: Edition): Map<string, string> {
  const paths = new Map<string, string>();
  for (const path of picturePaths(edition)) {
    const found = edition.media(path);
    if (found !== null) paths.set(pictureId(found), path);
  }
  return paths;
}

/** The picture of a linked page, by the page's address. Its path depends on its content. */
export const linkPicture: Output = {
  kind: 'link',
  stage: 'picture',
  paths: /^(pictures\/link-.+)$/,
  keyNamed: ({ archive }, path) => archive.linkPictures().find((one) => one.path === path)?.url,
  keysForDependency: keysAfter(dependencies.link('')),
  allKeys: ({ archive }) => (archive.paper().link_cards === true ? archive.linkPictures().map(({ url }) => url) : []),
  print(edition, url) {
    const path = edition.paper().link_cards === true ? edition.linkCard(url)?.picture?.path : undefined;
    const bytes = path === undefined ? null : edition.archive.linkPicture(url);
    return path === undefined || bytes === null ? null : [{ path, body: bytes }];
  },
};

/** The variants of a picture. Their paths depend on its content, so existing ones are never drawn again. */
export const picture: Output = {
  kind: 'picture',
  stage: 'picture',
  paths: /^pictures\/([0-9a-f]+)-\d+\./,
  keyNamed: (edition, id) => mediaByPictureId(edition).get(id),
  keysForDependency: (dependency) =>
    [dependencies.media, dependencies.picture].flatMap((of) => keysAfter(of(''))(dependency)).filter(isPicturePath),
  allKeys: picturePaths,
  print(edition, key, { pictures }) {
    const found = edition.media(key);
    if (found === null) return null;
    return variantsOf(found).map((variant) => ({
      path: variant.path,
      draw: () => pictures.variant(found, variant),
    }));
  },
};
