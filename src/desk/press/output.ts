import type { Portrait } from '../../media/portrait.ts';
import type { Variant } from '../../media/variants.ts';
import { dependencies } from '../dependencies.ts';
import type { Media } from '../papers/media.ts';
import type { Edition } from './edition.ts';
import type { Pages } from './views.ts';

/**
 * A file of an output, as one of:
 * - its bytes;
 * - the digest of the media file to copy; with `mayLack`, the file is omitted while that is missing or damaged;
 * - the path of an earlier file of the output with the same bytes;
 * - a function that draws it. The path of such a file depends on its whole content, so it is only drawn if it is
 *   missing.
 */
export type RenderedFile =
  | { path: string; body: string | Uint8Array }
  | { path: string; copy: string; mayLack?: true }
  | { path: string; same: string }
  /** A shared file belongs to many outputs. */
  | { path: string; draw: () => Promise<Uint8Array>; isShared?: true };

/** The order of writing, so that no file links to one that does not exist yet. `host` files announce all others. */
export const STAGES = [
  'assets',
  'picture',
  'card',
  'proof',
  'story',
  'cover',
  'list',
  'index',
  'front',
  'feed',
  'host',
] as const;
export type Stage = (typeof STAGES)[number];

/** Renders a page: `src/render.ts`, or Astro's development server. */
export type Render = <Route extends keyof Pages>(route: Route, view: Pages[Route]) => Promise<string>;

/** Draws the variants of pictures and portraits, each once. */
export interface Pictures {
  /** Whether all variants of a picture are drawn already. */
  isDrawn(media: Media): boolean;
  /** The bytes of a picture as filed. This and the next two throw `missingMedia` if the file is missing or damaged. */
  original(media: Media): Promise<Uint8Array>;
  variant(media: Media, variant: Variant): Promise<Uint8Array>;
  /** The portrait of a persona without a picture, as PNG. Drawn if necessary. */
  portrait(portrait: Portrait): Promise<Uint8Array>;
}

export interface RenderTools {
  render: Render;
  /** The build's files, shared by every paper: stylesheets, fonts, scripts, `public/`. */
  assets(): Iterable<RenderedFile>;
  pictures: Pictures;
  /** The current time in ms. Only the news sitemap, whose content expires, may read it. */
  now: number;
}

/** Files that are printed together, once per key. An output is named `<kind>/<key>`, or `<kind>` without a key. */
export interface Output {
  kind: string;
  stage: Stage;
  /** The keys that a stale dependency may create. Existing outputs are found by the dependencies that they read. */
  keysForDependency(dependency: string, edition: Edition): Iterable<string>;
  allKeys(edition: Edition): Iterable<string>;
  /** Matches the paths of its files, for outputs with keys. The groups, joined by a slash, are the key or its name. */
  paths?: RegExp;
  /** Finds the key if paths contain another name for it. */
  keyNamed?(edition: Edition, name: string): string | undefined;
  /** Prints the files of a key; null if the paper does not have the key, or no longer has it. */
  print(edition: Edition, key: string, tools: RenderTools): Promise<RenderedFile[] | null> | RenderedFile[] | null;
}

/** An output that a paper has exactly once, from its first edition on. */
export function singleOutput(
  kind: string,
  stage: Stage,
  print: (edition: Edition, tools: RenderTools) => ReturnType<Output['print']>,
): Output {
  return {
    kind,
    stage,
    keysForDependency: () => [],
    allKeys: () => [''],
    print: (edition, _key, tools) => print(edition, tools),
  };
}

/**
 * The keys of an output that every piece has: slugs. It depends on the piece itself and on the dependencies of `more`.
 */
export function ofEachPiece(...more: ((id: string) => string)[]): Pick<Output, 'keysForDependency' | 'allKeys'> {
  const keys = [dependencies.piece, ...more].map((dependency) => keysAfter(dependency('')));
  return {
    keysForDependency: (dependency, edition) =>
      keys.flatMap((idsIn) => idsIn(dependency)).flatMap((id) => edition.piece(id)?.slug ?? []),
    *allKeys(edition) {
      for (const { slug } of edition.archive.slugs()) yield slug;
    },
  };
}

/** Finds the key that a stale dependency names after a prefix: `keysAfter('day:')`. */
export function keysAfter(prefix: string): (dependency: string) => string[] {
  return (dependency) => (dependency.startsWith(prefix) ? [dependency.slice(prefix.length)] : []);
}
