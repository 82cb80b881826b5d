import { z } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { createMiddleware } from 'hono/factory';
import { ChoicesBody, choicesInWords } from '../../../src/desk/readers/choices.ts';
import {
  choose,
  confirm,
  manageToken,
  toConfirm,
  tokenIn,
  toManage,
  unsubscribe,
} from '../../../src/desk/readers/link.ts';
import { choicesRow } from '../../../src/desk/readers/subscribe.ts';
import type { Subscriber } from '../../../src/desk/readers/subscriber.ts';
import { fill } from '../../../src/phrases/fill.ts';
import type { Phrases } from '../../../src/phrases/phrases.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { PaperContext, PaperEnv } from '../../env.ts';
import { requireUtf8Query } from '../../middleware/invalid.ts';
import { limitBody } from '../../middleware/json-body.ts';
import { notFound } from '../../middleware/key.ts';
import { privateJson } from '../../responses/send.ts';
import type { Sites } from '../site.ts';
import { choicesOf, onlyField, readBody, type SentBody, validated, validChoices } from './body.ts';
import type { ReaderParts } from './subscribers.ts';
import { formProblem, phrasesIn, sentChoices, wantsPage } from './view.ts';

type Handler = (c: PaperContext) => Response | Promise<Response>;

const Change = ChoicesBody.safeExtend({ token: z.string() });

/** The pages behind mailed links. Opening one changes nothing, because mail scanners do: only its button does. */
export function subscribePages(app: AppContext, parts: ReaderParts, sites: Sites, read: MiddlewareHandler<PaperEnv>) {
  const { secret, pages } = parts;
  const { store, clock } = app;
  const { readers } = store.desk;
  const slugOf = (c: PaperContext) => c.get('site').slug;
  const manageUrl = (c: PaperContext, row: Subscriber) => {
    const { root, served, paper } = c.get('site');
    const token = manageToken(readers.tokens, secret, row.paper, row.reader);
    return `${paper.paper_public ? root : served}/subscribe/manage?token=${token}`;
  };

  const before = [pages.faults(wantsPage), unkeyed, requireUtf8Query, read, limitBody, paperOf(sites)];
  const page = (get: Handler, post: Handler) => ({
    show: { before, handle: hidden(get) },
    submit: { before, handle: hidden(post) },
  });

  const subscribed = (c: PaperContext, row: Subscriber) =>
    pages.said(c, {
      heading: phrasesIn(c).reader.subscribed_title,
      paragraphs: [ordered(app, c, phrasesIn(c).reader.subscribed, row)],
      link: { url: manageUrl(c, row), text: phrasesIn(c).reader.change },
    });
  const confirmPages = page(
    (c) => {
      const token = queried(c);
      const { row, isDone } = toConfirm(readers, slugOf(c), token, clock.now());
      if (isDone) return subscribed(c, row);
      const t = phrasesIn(c).reader;
      return pages.said(c, {
        heading: t.confirm_title,
        paragraphs: [ordered(app, c, t.confirm_what, row), t.confirm_note],
        button: { action: 'confirm', token, label: t.confirm },
      });
    },
    async (c) => {
      const token = tokenOfBody(await readBody(c));
      toConfirm(readers, slugOf(c), token, clock.now());
      const row = confirm(store.desk, slugOf(c), token, clock.now());
      if (wantsPage(c)) return subscribed(c, row);
      const choices = choicesRow(row, c.get('site').paper.sections);
      return privateJson(c, { status: 'confirmed', email: row.email, ...choices, manage_url: manageUrl(c, row) });
    },
  );

  const shown = (c: PaperContext, row: Subscriber, token: string, saved: boolean) =>
    pages.manage(c, {
      email: row.email,
      token,
      cadence: row.cadence,
      sections: row.sections ?? c.get('site').paper.sections,
      cast: row.cast,
      saved,
      problem: null,
    });
  const changed = (c: PaperContext, sent: SentBody): Subscriber => {
    const { token, ...body } = validChoices(Change, sent, 'token');
    tokenIn(readers.tokens, slugOf(c), 'manage', token, clock.now());
    return choose(store.desk, slugOf(c), token, choicesOf(c, body), clock.now());
  };
  const managePages = page(
    (c) => {
      const token = queried(c);
      const row = toManage(readers, slugOf(c), token, clock.now());
      return row === null ? ended(c) : shown(c, row, token, false);
    },
    async (c) => {
      const sent = await readBody(c);
      if (!wantsPage(c)) {
        const row = changed(c, sent);
        const choices = choicesRow(row, c.get('site').paper.sections);
        return privateJson(c, { status: 'confirmed', email: row.email, ...choices });
      }
      const token = tokenOfBody(sent);
      try {
        return await shown(c, changed(c, sent), token, true);
      } catch (error) {
        const problem = formProblem(c, error);
        const row = problem === null ? null : toManage(readers, slugOf(c), token, clock.now());
        if (row === null || sent.form === null) throw error;
        return pages.manage(c, { email: row.email, token, ...sentChoices(sent.form), saved: false, problem });
      }
    },
  );

  const ended = (c: PaperContext) =>
    pages.said(c, {
      heading: phrasesIn(c).reader.ended_title,
      paragraphs: [fill(phrasesIn(c).reader.ended, { paper: c.get('site').paper.nameplate })],
      link: { url: pages.orderUrl(c), text: phrasesIn(c).reader.again },
    });
  const unsubscribePages = page(
    (c) => {
      const token = queried(c);
      const { reader } = tokenIn(readers.tokens, slugOf(c), 'manage', token, clock.now());
      const row = readers.subscribers.of(slugOf(c), reader);
      if (row === null) return ended(c);
      const t = phrasesIn(c).reader;
      return pages.said(c, {
        heading: t.end_title,
        paragraphs: [fill(t.end_what, { paper: c.get('site').paper.nameplate, address: row.email })],
        button: { action: 'unsubscribe', token, label: t.end },
      });
    },
    async (c) => {
      const sent = await readBody(c, { mayBeMultipart: true });
      // A mail client's own button sends this single field, with the link's token in the URL (RFC 8058, section 3.1).
      const isOneClick = sent.form?.get('List-Unsubscribe')?.[0] === 'One-Click';
      const token = isOneClick && !sent.form?.has('token') ? queried(c) : tokenOfBody(sent);
      tokenIn(readers.tokens, slugOf(c), 'manage', token, clock.now());
      unsubscribe(store.desk, slugOf(c), token, clock.now());
      if (!wantsPage(c)) return privateJson(c, { status: 'unsubscribed' });
      return ended(c);
    },
  );
  return { confirm: confirmPages, manage: managePages, unsubscribe: unsubscribePages };
}

/** What a reader ordered, in a phrase. */
function ordered(
  { store }: AppContext,
  c: PaperContext,
  phrase: Phrases['reader']['subscribed'],
  row: Subscriber,
): string {
  const { slug, nameplate, language } = c.get('site').paper;
  const choices = choicesInWords(language, row, store.desk.archive(slug).casts());
  return fill(phrase, { paper: nameplate, address: row.email, choices });
}

/** Pages take no key: the token grants access. */
export const unkeyed = createMiddleware<PaperEnv>(async (c, next) => {
  c.set('key', null);
  await next();
});

/** Puts the paper into the context. Throws `not_found` for an unknown paper. */
export function paperOf(sites: Sites) {
  return createMiddleware<PaperEnv>(async (c, next) => {
    const site = sites.of(c.env);
    if (site === null || site.paper === null) throw notFound();
    c.set('site', { ...site, paper: site.paper });
    await next();
  });
}

/** For callers without a token a private paper does not exist: only its holder learns that a write failed. */
function hidden(handler: Handler): Handler {
  return async (c) => {
    try {
      return await handler(c);
    } catch (error) {
      if (!(error instanceof Fault) || error.code === 'unavailable' || c.get('site').paper.paper_public) throw error;
      c.set('isHidden', true);
      throw notFound();
    }
  };
}

/** The token in a page's query. Throws `invalid_request`. */
const queried = (c: PaperContext): string => requireToken(c.req.query('token'));

function tokenOfBody({ form, json }: SentBody): string {
  return requireToken(
    form === null ? validated(z.object({ token: z.string() }), json).token : onlyField(form, 'token'),
  );
}

function requireToken(token: string | undefined): string {
  if (token) return token;
  throw new Fault('invalid_request', 'token is missing; open the link of the mail as it is', { field: 'token' });
}
