import type { OpenAPIHono, RouteConfig } from '@hono/zod-openapi';
import type { Logger } from 'pino';
import type { AppContext } from '../../src/app/context.ts';
import type { PressQueue } from '../../src/app/press-queue.ts';
import type { Archive, Story } from '../../src/desk/archive.ts';
import { isWithdrawn } from '../../src/desk/archive.ts';
import type { Links } from '../../src/desk/story.ts';
import { Fault } from '../../src/fault.ts';
import type { ProveHost } from '../../src/net/host-proof.ts';
import { Edition, siteOf } from '../../src/press/edition.ts';
import { memoized } from '../../src/press/memoized.ts';
import { linksOf } from '../../src/press/outputs/row-view.ts';
import { isoTime } from '../../src/time.ts';
import type { PaperContext, PaperEnv } from '../env.ts';
import type { Handler, Route } from '../openapi/register.ts';
import { registerRoute } from '../openapi/register.ts';
import type { PaperResponses } from './paper-responses.ts';

/** What every door file gets. */
export interface Doors {
  router: OpenAPIHono<PaperEnv>;
  app: AppContext;
  responses: PaperResponses;
  presses: PressQueue;
  logger: Logger;
  /** Asks a host, and its DNS, whose it is. */
  prove: ProveHost;
}

/** Registers a route under the papers' roots; what its handler returns is checked against the route's schema. */
export function register<R extends RouteConfig>(
  { router, responses }: Pick<Doors, 'router' | 'responses'>,
  route: Route<R>,
  handler: Handler<R, PaperEnv>,
): void {
  registerRoute(router, route, handler, (c, value) => responses.send(c, value));
}

/** The archive of the paper that is asked. */
export function archiveOf({ app }: Pick<Doors, 'app'>, c: PaperContext): Archive {
  return app.store.archive(c.get('site').slug);
}

/** The absolute addresses that rows carry. */
export function linksFor({ app }: Pick<Doors, 'app'>, c: PaperContext): Links {
  return linksOf(editionOf({ app }, c));
}

/** The paper as the press reads it, for one answer. */
export function editionOf({ app }: Pick<Doors, 'app'>, c: PaperContext): Edition {
  const { slug, root } = c.get('site');
  return new Edition(memoized(app.store.archive(slug)), siteOf(root));
}

/** A piece by its id or its slug, whatever its state. Throws `not_found`. */
export function pieceNamed(archive: Archive, name: string): Story {
  const story = archive.storyById(name) ?? archive.storyBySlug(name);
  if (story === null) throw noPiece(name);
  return story;
}

/**
 * A piece that the caller may read: on air, or any of the desk's own with a key.
 * Throws `not_found`, and `withdrawn` for what was on air and was taken off.
 */
export function readablePiece(archive: Archive, name: string, c: PaperContext): Story {
  const story = pieceNamed(archive, name);
  if (isWithdrawn(story)) {
    const withdrawn_at = isoTime(story.withdrawn_at ?? 0);
    throw new Fault('withdrawn', `this piece was withdrawn on ${withdrawn_at.slice(0, 10)}: ${story.reason}`, {
      withdrawn_at,
      reason: story.reason,
    });
  }
  if (story.state !== 'on_air' && c.get('key') === null) throw noPiece(name);
  return story;
}

/** Where a piece's proof is: among the paper's own files, else behind the keyed door. */
export function proofUrl(c: PaperContext, story: Story): string {
  const { root, paper } = c.get('site');
  return story.state === 'on_air' && paper.paper_public
    ? `${root}/stories/${story.slug}/proof.json`
    : `${root}/api/v1/stories/${story.id}/proof`;
}

/** The members that every list carries (wire.md, section 3). */
export function listOf<Name extends string, T>(c: PaperContext, name: Name, rows: T[], next: string | null = null) {
  const { slug, paper } = c.get('site');
  const list = { desk: slug, nameplate: paper.nameplate, count: rows.length, [name]: rows, next_cursor: next };
  return list as { desk: string; nameplate: string; count: number; next_cursor: string | null } & Record<Name, T[]>;
}

/** The fault of a piece that is not on air, or not at all. */
export function noPiece(name: string): Fault {
  return new Fault('not_found', `this paper has no piece ${JSON.stringify(name.slice(0, 200))} on air`);
}
