import type { Edition } from './edition.ts';
import type { Pages } from './views.ts';

/**
 * A file as a sheet prints it: its bytes; or the digest of the media file to
 * copy; or an earlier file of the sheet that it is the same as; or how to draw it, for a file whose path names all that it shows, so
 * that it need not be drawn when it is there.
 */
export type RenderedFile =
  | { path: string; body: string | Uint8Array }
  | { path: string; copy: string }
  | { path: string; same: string }
  | { path: string; draw: () => Promise<Uint8Array> };

/**
 * The order in which a press writes, so that no file points at one that is not
 * there yet: an `index` names lists, and `host` files, the last, tell hosts and
 * crawlers of all the others.
 */
export const STAGES = ['matter', 'card', 'story', 'list', 'index', 'front', 'feed', 'host'] as const;
export type Stage = (typeof STAGES)[number];

/** Prints a page: `src/render.ts`, or Astro's development server. */
export type Render = <Route extends keyof Pages>(route: Route, view: Pages[Route]) => Promise<string>;

/** What sheets are printed with, beside the edition. */
export interface RenderTools {
  render: Render;
  /** What the build made for every paper: stylesheets, fonts, scripts, `public/`. */
  assets(): Iterable<RenderedFile>;
  /** The present time in ms; only the news sitemap, which ages, may ask for it. */
  now: number;
}

/**
 * One kind of printed matter. A sheet is named `<kind>/<key>`, or `<kind>` when
 * there is only one, and prints one or more files from what it reads.
 */
export interface Output {
  kind: string;
  stage: Stage;
  /** Keys of the sheets that a touched tag may bring into being; those that exist are found by what they read. */
  keysForTag(tag: string, edition: Edition): Iterable<string>;
  /** Keys of all sheets of the kind that the paper now has. */
  allKeys(edition: Edition): Iterable<string>;
  /** Prints a sheet; null when the paper has none of this key (any more). */
  print(edition: Edition, key: string, tools: RenderTools): Promise<RenderedFile[] | null> | RenderedFile[] | null;
}

/** A sheet of which a paper has exactly one, from its first edition on. */
export function singleOutput(
  kind: string,
  rank: Stage,
  print: (edition: Edition, tools: RenderTools) => ReturnType<Output['print']>,
): Output {
  return {
    kind,
    stage: rank,
    keysForTag: () => [],
    allKeys: () => [''],
    print: (edition, _key, tools) => print(edition, tools),
  };
}

/** The part of a tag after its prefix, or null when it has another: `tagged('day:', tag)`. */
export function afterPrefix(prefix: string, tag: string): string | null {
  return tag.startsWith(prefix) ? tag.slice(prefix.length) : null;
}
