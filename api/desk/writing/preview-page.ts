import type { MiddlewareHandler } from 'hono';
import { contentType as typeByName } from 'mime-types';
import type { Story } from '../../../src/desk/archive.ts';
import { findPreviewLink, showsPreview } from '../../../src/desk/papers/preview-link.ts';
import type { Build } from '../../../src/desk/press/build.ts';
import { Edition, siteAt } from '../../../src/desk/press/edition.ts';
import { memoized } from '../../../src/desk/press/memoized.ts';
import { mediaByPictureId } from '../../../src/desk/press/outputs/assets.ts';
import { avatarPath } from '../../../src/desk/press/outputs/frame.ts';
import { previewView } from '../../../src/desk/press/outputs/story.ts';
import type { AppContext } from '../../../src/server/context.ts';
import type { PaperContext, PaperEnv } from '../../env.ts';
import { fileHeaders } from '../../responses/files.ts';
import { notFoundHandler } from '../files/notices.ts';
import { renderedFile } from '../files/pressed-file.ts';
import type { Sites } from '../site.ts';
import { paperOf, unkeyed } from '../subscribers/pages.ts';
import { previewedProse } from './preview.ts';

/** Files that a page loads; every other address below a preview leads to the paper itself. */
export const LOADED = /^(?:_astro|media|pictures|portraits)\/|\.(?:css|svg|ico|png|webmanifest)$/;

/** Files that belong to pieces or personas: a preview shows those of its own piece. */
const OWNED = /^(?:media|portraits|cards)\//;

/** Headers of every response below `/preview/`: it is for one reader, and its address is a secret. */
const SECRECY = {
  'Cache-Control': 'private, no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex, nofollow, noarchive',
};

/**
 * The pages behind preview links, with all files that they load, which a private paper shows nowhere else without a
 * key.
 */
export function previewPage(app: AppContext, build: Build, sites: Sites, reads: MiddlewareHandler<PaperEnv>) {
  const missing = notFoundHandler(app);
  const answer = async (c: PaperContext): Promise<Response> => {
    const { slug, served } = c.get('site');
    const [secret = '', ...rest] = c.req.path.slice(`/${slug}/preview/`.length).split('/');
    const link = findPreviewLink(
      { previews: app.store.desk.previews, now: app.clock.now() },
      app.store.desk.keys,
      secret,
    );
    const archive = app.store.desk.archive(slug);
    const story = link?.paper === slug ? archive.storyById(link.piece) : null;
    if (link === null || story === null) return missing(c);
    if (rest.length === 0) return c.redirect(`${served}/preview/${secret}/`, 302);
    const path = rest.join('/');
    if (!showsPreview(link, story)) return c.redirect(`${served}/stories/${story.slug}/`, 302);
    if (path === '') return previewedPage(app, build, c, { story, below: `preview/${secret}` });
    if (!LOADED.test(path)) return c.redirect(`${served}/${path}`, 302);
    return (await previewedFile(app, build, c, { story, path })) ?? missing(c);
  };
  const secret = async (c: PaperContext): Promise<Response> => {
    const response = await answer(c);
    for (const [name, value] of Object.entries(SECRECY)) response.headers.set(name, value);
    return response;
  };
  return { before: [unkeyed, paperOf(sites), reads], handle: secret };
}

/**
 * The piece's page. All links on it stay below the preview's own path, which redirects to the paper for everything else
 * than the page's own files.
 */
export async function previewedPage(
  app: AppContext,
  { render }: Build,
  c: PaperContext,
  { story, below }: { story: Story; below: string },
): Promise<Response> {
  const site = c.get('site');
  const at = siteAt(site);
  const base = `${at.base}/${below}`;
  const edition = new Edition(memoized(app.store.desk.archive(site.slug)), { ...at, base });
  const shown = shownStory(story, app.clock.now());
  const html = await previewedProse(edition, story);
  const view = { ...previewView(edition, shown, html), is_preview: story.state !== 'on_air' };
  // A link opens this piece of a private paper, and nothing else of it.
  const body = await render('/paper/story', site.paper.paper_public ? view : { ...view, earlier: [] });
  return c.body(body, 200, {
    ...fileHeaders(`/stories/${story.slug}/`, site.served, []),
    'Content-Type': 'text/html; charset=UTF-8',
  });
}

/**
 * A file that the page loads; null when there is none. With a story, only pictures that its page shows.
 */
export async function previewedFile(
  app: AppContext,
  build: Build,
  c: PaperContext,
  { story, path }: { story: Story | null; path: string },
): Promise<Response | null> {
  const site = c.get('site');
  const headers = {
    ...fileHeaders(`/${path}`, site.served, []),
    'Content-Type': typeByName(path.slice(path.lastIndexOf('/') + 1)) || 'application/octet-stream',
  };
  const built = build.asset(path);
  if (built !== null) return c.body(Buffer.from(built.bytes), 200, headers);
  const edition = new Edition(memoized(app.store.desk.archive(site.slug)), siteAt(site));
  const media = path.startsWith('pictures/')
    ? mediaByPictureId(edition).get(/\/([0-9a-f]+)-/.exec(path)?.[1] ?? '')
    : path;
  if (media === undefined || (story !== null && OWNED.test(media) && !isShown(edition, story, media))) return null;
  const found = await renderedFile(app, build, edition, path);
  return found === null ? null : c.body(found, 200, headers);
}

/** Whether the page of a piece shows a picture: as its picture, in its prose, as a portrait or in the paper's frame. */
function isShown(edition: Edition, { image, prose, persona }: Story, media: string): boolean {
  return (
    image?.src === media ||
    prose.includes(media) ||
    avatarPath(edition, persona) === media ||
    media === `portraits/${persona}.png` ||
    JSON.stringify(edition.paper()).includes(JSON.stringify(media))
  );
}

/** A piece as it will be on air: at its time, or from now on. */
function shownStory(story: Story, now: number): Story {
  const published_at = story.published_at || (story.scheduled_at ?? now);
  return { ...story, state: 'on_air', published_at, updated_at: Math.max(story.updated_at, published_at) };
}
