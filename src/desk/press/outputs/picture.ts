import { pictureId, variantsOf } from '../../../media/variants.ts';
import { tags } from '../../tags.ts';
import type { Edition } from '../edition.ts';
import { keysAfter, type Output } from '../output.ts';

/** What may be a picture with variants: no other file is asked for them. */
const isPicturePath = (path: string): boolean => /\.(?:jpe?g|png|webp|avif)$/i.test(path);

function picturePaths({ archive }: Edition): string[] {
  return archive.mediaPaths().filter(isPicturePath);
}

/** The media path of each picture, by the id in the names of its variants. Of equal pictures, one is enough. */
export function mediaByPictureId(edition: Edition): Map<string, string> {
  const paths = new Map<string, string>();
  for (const path of picturePaths(edition)) {
    const found = edition.media(path);
    if (found !== null) paths.set(pictureId(found), path);
  }
  return paths;
}

/** The variants of a picture. Their paths depend on its content, so existing ones are never drawn again. */
export const picture: Output = {
  kind: 'picture',
  stage: 'picture',
  keysForTag: (tag) => [tags.media, tags.picture].flatMap((of) => keysAfter(of(''))(tag)).filter(isPicturePath),
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
