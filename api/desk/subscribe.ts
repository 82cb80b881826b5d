import type { MiddlewareHandler } from 'hono';
import type { Render } from '../../src/press/sheet.ts';
import { PostRoom } from '../../src/works/post.ts';
import { openReaderDesk } from '../../src/works/reader-desk.ts';
import type { PaperEnv } from '../env.ts';
import type { Doors } from './doors.ts';
import type { Sites } from './site.ts';
import { subscribePages } from './subscribe-pages.ts';
import { ReaderPages } from './subscribe-view.ts';
import { subscriberDoors } from './subscribers.ts';

interface Around {
  sites: Sites;
  /** Counts the reads of each caller, and their orders. */
  reads: MiddlewareHandler<PaperEnv>;
  orders: MiddlewareHandler<PaperEnv>;
}

/** Everything of readers: the doors of the API, and the pages that mailed links open. */
export function readerDoors(doors: Doors, render: Render, { sites, reads, orders }: Around): void {
  const { shop, logger } = doors;
  const desk = openReaderDesk(shop);
  const room = new PostRoom(shop, desk, (mail, error) =>
    logger.warn({ mail: mail.id, code: (error as { code?: unknown }).code }, 'a mail was not sent; it is tried again'),
  );
  const post = () =>
    setImmediate(() => {
      room.send().catch((error: unknown) => logger.error({ err: error }, 'the post stands still until the next order'));
    });
  const parts = { desk, pages: new ReaderPages(shop, render), throttle: orders, post };
  subscriberDoors(doors, parts);
  subscribePages(doors, parts, sites, reads);
}
