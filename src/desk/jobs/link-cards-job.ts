import type { Logger } from 'pino';
import { sha256 } from '../../proof/basis.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import { type ClientOptions, clientOptions, type Inbound, outboundClient } from '../../shared/net/outbound-client.ts';
import { VERSION } from '../../shared/project.ts';
import { BATCH_PAUSE, hourly, poll } from '../../shared/workers/poll.ts';
import type { LinkedPage } from '../archive.ts';
import { dependencies } from '../dependencies.ts';
import { linkedPage } from '../linked-page.ts';

const JOB = 'link-cards';
/** How often the job looks for links without a card, in ms. */
const LOOK_EVERY = 2 * SECOND;
/** Maximum number of pages read at a time. */
const AT_ONCE = 4;
/** The wait after each unsuccessful attempt, in ms. After the last attempt, the page is not requested again. */
export const LINK_WAITS = [10 * MINUTE, HOUR, 6 * HOUR, DAY, 7 * DAY] as const;

const REDIRECTS_MAX = 5;
/** The timeout of one request, in ms. */
const DEADLINE = 15 * SECOND;
/** Maximum size of a page that is read, in bytes. The head, with the metadata, comes first. */
const PAGE_MAX = 1_000_000;
const PICTURE_MAX = 5_000_000;
/** The longest side of a card's picture, in pixels: twice the displayed size. */
const PICTURE_SIDE = 480;

/**
 * Reads the pages to which pieces on air link on lines of their own, for papers that enabled link cards. Returns a
 * function that stops the job after the requests in flight.
 */
export function startLinkCards(app: AppContext, logger: Logger): () => Promise<void> {
  const { origin, webhookPrivate } = app.settings;
  const reader = linkReader(clientOptions(`Broadsheet/${VERSION} (+${origin})`, webhookPrivate));
  const sweep = hourly(app, () => dropUnneeded(app));
  const { linkCards } = app.store.desk;
  /** The value of `linkCards.presses()` at which no page lacked a card. */
  let seen = -1;
  const round = async (): Promise<number> => {
    const now = app.clock.now();
    sweep(now);
    const presses = linkCards.presses();
    if (presses === seen && now < (linkCards.nextDue() ?? Number.POSITIVE_INFINITY)) return LOOK_EVERY;
    if ((await readLinks(app, reader, logger)) === AT_ONCE) return BATCH_PAUSE;
    seen = presses;
    return LOOK_EVERY;
  };
  return poll(round, { job: JOB, logger, failed: 'the job failed; it is retried' });
}

type LinkReader = ReturnType<typeof linkReader>;

/** Reads pages and their pictures. `options` must allow every address requested, including redirects. */
export function linkReader(options: ClientOptions) {
  const limits = { ...options, deadline: DEADLINE, answerWait: DEADLINE };
  const askPage = outboundClient({ ...limits, answerMax: PAGE_MAX, keepsCut: true });
  const askPicture = outboundClient({ ...limits, answerMax: PICTURE_MAX });

  /** The response at an address, after redirects, and its final address; or the reason for a failure. */
  const follow = async (ask: typeof askPage, address: string, accept: string) => {
    let url = new URL(address);
    for (let count = 0; count <= REDIRECTS_MAX; count++) {
      const headers = { Accept: accept, 'Accept-Encoding': 'identity' };
      const answer: Inbound = await ask(url.href, { method: 'GET', headers });
      const { error, location, bytes } = answer;
      if (error === null) return bytes === null ? `${answer.cut}` : { url, bytes, type: answer.contentType };
      if (error !== 'redirect' || location === null) return answer.status === null ? error : `status ${answer.status}`;
      const next = webAddress(location, url);
      if (next === null) return 'redirect to no web address';
      url = next;
    }
    return `more than ${REDIRECTS_MAX} redirects`;
  };

  const pictureAt = async (url: URL | null) => {
    const found = url === null ? '' : await follow(askPicture, url.href, 'image/avif,image/webp,image/png,image/jpeg');
    if (typeof found === 'string') return null;
    // Loaded on demand, because its libraries are large.
    const { drawThumbnail } = await import('../../media/draw-variants.ts');
    return drawThumbnail(found.bytes, PICTURE_SIDE);
  };

  /** The metadata of the page at an address, with its picture; or the reason why there is none. Never rejects. */
  return async (address: string): Promise<{ page: LinkedPage; picture: Uint8Array | null } | string> => {
    const found = await follow(askPage, address, 'text/html,application/xhtml+xml');
    if (typeof found === 'string') return found;
    const { url, bytes, type } = found;
    if (type !== null && !/^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(type)) return 'not HTML';
    const { pageHead } = await import('../../../packages/import/src/index.ts');
    const head = pageHead(bytes, type);
    const page = linkedPage(head);
    if (page === null) return 'no title';
    const drawn = await pictureAt(head.image === null ? null : webAddress(head.image, url));
    if (drawn === null) return { page: { ...page, picture: null }, picture: null };
    const { width, height } = drawn;
    // The name contains a hash, so the file never changes, like all files of this folder.
    const path = `pictures/link-${sha256(drawn.bytes).slice('sha256:'.length, 'sha256:'.length + 20)}.webp`;
    return { page: { ...page, picture: { path, width, height } }, picture: drawn.bytes };
  };
}

function webAddress(text: string, base: URL): URL | null {
  const url = URL.parse(text.trim(), base);
  return url !== null && /^https?:$/.test(url.protocol) ? url : null;
}

/** Reads due pages, at most `AT_ONCE`. Returns how many were requested. */
export async function readLinks(
  { store, clock: { now } }: Pick<AppContext, 'store' | 'clock'>,
  read: LinkReader,
  logger: Logger,
): Promise<number> {
  const { linkCards } = store.desk;
  const due: { paper: string; url: string; tries: number }[] = [];
  for (const paper of store.desk.paperSlugs()) {
    if (due.length >= AT_ONCE || store.desk.paper(paper)?.link_cards !== true) continue;
    for (const row of linkCards.due(paper, now(), AT_ONCE - due.length)) due.push({ paper, ...row });
  }
  const one = async ({ paper, url, tries }: (typeof due)[number]): Promise<void> => {
    const wait = LINK_WAITS[tries];
    const again = wait === undefined ? null : now() + wait;
    if (!linkCards.claim(paper, url, tries + 1, again)) return;
    const found = await read(url);
    const about = { job: JOB, paper, url };
    if (typeof found === 'string') {
      const what = again === null ? 'a link has no card; giving up' : 'a link has no card yet; it is tried again';
      return logger.info({ ...about, error: found }, what);
    }
    await store.database.groupCommit(() => {
      // The paper may have been removed meanwhile.
      if (linkCards.keep(paper, url, found.page, found.picture)) store.desk.markStale(paper, [dependencies.link(url)]);
    }, Number.POSITIVE_INFINITY);
    logger.info(about, 'a link has a card');
  };
  await Promise.all(due.map(one));
  return due.length;
}

/** Deletes the cards of pages to which no piece on air links any more. */
export function dropUnneeded({ store }: Pick<AppContext, 'store'>): void {
  const { linkCards } = store.desk;
  for (const paper of linkCards.papers()) {
    const urls = linkCards.unneeded(paper);
    if (urls.length === 0) continue;
    store.database.transact(() => {
      for (const url of urls) linkCards.drop(paper, url);
      store.desk.markStale(paper, urls.map(dependencies.link));
    });
  }
}
