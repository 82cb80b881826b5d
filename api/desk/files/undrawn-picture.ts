import type { AppContext } from '../../../src/app/context.ts';
import { Edition, siteOf } from '../../../src/press/edition.ts';
import { mediaByPictureId } from '../../../src/press/outputs/picture.ts';

const PICTURE = /^\/pictures\/([0-9a-f]+)-\d+\.(?:avif|webp)$/;

/**
 * Finds the original of a picture whose variants are not drawn yet. Returns a function that takes a path under a
 * paper's root and gives the path of the media file; null when it is not the path of a variant.
 */
export function undrawnPictures({ store }: AppContext): (paper: string, path: string) => string | null {
  /** The media paths of each paper by picture, as of an edition. */
  const known = new Map<string, { edition: number; paths: Map<string, string> }>();
  return (paper, path) => {
    const id = PICTURE.exec(path)?.[1];
    if (id === undefined) return null;
    const archive = store.archive(paper);
    const { edition } = archive.paper();
    let found = known.get(paper);
    if (found?.edition !== edition) {
      found = { edition, paths: mediaByPictureId(new Edition(archive, siteOf('http://localhost'))) };
      known.set(paper, found);
    }
    return found.paths.get(id) ?? null;
  };
}
