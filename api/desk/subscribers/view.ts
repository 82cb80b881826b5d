import { accepts } from 'hono/accepts';
import { createMiddleware } from 'hono/factory';
import { Edition, siteAt } from '../../../src/desk/press/edition.ts';
import type { Render } from '../../../src/desk/press/output.ts';
import { frameOf } from '../../../src/desk/press/outputs/frame.ts';
import type {
  ChoicesView,
  FormProblem,
  Frame,
  ReaderManageView,
  ReaderSaidView,
} from '../../../src/desk/press/views.ts';
import { fill } from '../../../src/phrases/fill.ts';
import type { Phrases } from '../../../src/phrases/phrases.ts';
import { phrasesOf, tagOf } from '../../../src/phrases/tables.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { PaperContext, PaperEnv } from '../../env.ts';
import { fileHeaders } from '../../responses/files.ts';
import { respond } from '../../responses/headers.ts';
import { notFoundHandler } from '../files/notices.ts';

type Said = Pick<ReaderSaidView, 'heading' | 'paragraphs'> & Partial<Pick<ReaderSaidView, 'button' | 'link'>>;

/** Whether the caller is a browser: its `Accept` header names HTML explicitly. */
export function wantsPage(c: PaperContext): boolean {
  const supports = ['application/json', 'text/html'];
  return accepts(c, { header: 'Accept', supports, default: 'application/json' }) === 'text/html';
}

/** The problem to show beside a form field, without the field's name; null when the error is not about a field. */
export function formProblem(c: PaperContext, error: unknown): FormProblem | null {
  if (!(error instanceof Fault) || error.code !== 'invalid_request') return null;
  const { field } = error.details;
  if (typeof field !== 'string' || field === 'token') return null;
  const { message } = error;
  if (!speaksEnglish(c)) return { field, message: problemOf(c, field) };
  return { field, message: sentence(message.startsWith(`${field}: `) ? message.slice(field.length + 2) : message) };
}

/** The phrases in the paper's language. */
export const phrasesIn = (c: PaperContext): Phrases => phrasesOf(c.get('site').paper.language);

const speaksEnglish = (c: PaperContext): boolean => tagOf(c.get('site').paper.language) === 'en';

function problemOf(c: PaperContext, field: string): string {
  const t = phrasesIn(c).subscribe;
  const problems: Record<string, string> = { email: t.bad_email, cadence: t.bad_cadence, sections: t.bad_sections };
  return problems[field] ?? t.refused;
}

/** The choices of a form as they were sent, to show them again. */
export function sentChoices(form: Map<string, string[]>): ChoicesView {
  return {
    cadence: form.get('cadence')?.[0] ?? '',
    sections: form.get('sections') ?? [],
    cast: form.get('cast')?.[0] === 'true',
  };
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

/** A fault's message for readers: the API's are in English, and its rate limit mentions what only programs use. */
function forReader(c: PaperContext, { code, message }: Fault, seconds: string | null): string {
  const t = phrasesIn(c).reader;
  if (code === 'rate_limited') return fill(t.too_many, { seconds: seconds ?? '' });
  return speaksEnglish(c) ? `${sentence(message)}.` : t.failed;
}

export type ReaderPages = ReturnType<typeof readerPages>;

/** Renders the subscription pages in the paper's design. They stay out of every cache and send no referrer. */
export function readerPages(app: AppContext, render: Render) {
  const frame = (c: PaperContext, title: string): Frame => {
    const site = c.get('site');
    const edition = new Edition(app.store.desk.archive(site.slug), siteAt(site));
    return frameOf(edition, { path: 'subscribe/', title, description: phrasesIn(c).reader.description, noindex: true });
  };

  const send = (c: PaperContext, html: string, status: number): Response =>
    respond(c, html, status, {
      'Content-Type': 'text/html; charset=UTF-8',
      ...fileHeaders('/subscribe/', c.get('site').root, []),
      'Cache-Control': 'private, no-store',
      'Referrer-Policy': 'no-referrer',
      'X-Robots-Tag': 'noindex',
      Vary: 'Accept',
    });

  /** A page with a message and possibly a button. */
  const said = async (c: PaperContext, message: Said, status = 200): Promise<Response> => {
    const view = { button: null, link: null, ...message, frame: frame(c, message.heading) };
    return send(c, await render('/paper/subscribe-said', view), status);
  };

  /** The URL at which a reader can subscribe again. */
  const orderUrl = (c: PaperContext): string => `${siteAt(c.get('site')).base}/subscribe/`;

  return {
    said,
    orderUrl,
    /** The subscription form again, with the values that were sent and the problem beside its field. */
    async orderAgain(c: PaperContext, form: Map<string, string[]>, problem: FormProblem): Promise<Response> {
      const api = `${siteAt(c.get('site')).base}/api/v1`;
      const choices = form.has('boxes') ? sentChoices(form) : null;
      const failed = { email: form.get('email')?.[0] ?? '', choices, problem };
      const view = { frame: frame(c, phrasesIn(c).page.subscribe), api, failed, sample_url: null };
      return send(c, await render('/paper/subscribe', view), 400);
    },
    /** The page on which a reader changes a subscription. */
    async manage(c: PaperContext, view: Omit<ReaderManageView, 'frame'>): Promise<Response> {
      const whole = { ...view, frame: frame(c, phrasesIn(c).reader.title) };
      return send(c, await render('/paper/subscribe-manage', whole), view.problem === null ? 200 : 400);
    },
    /** Turns faults of later handlers into pages where `isForPeople` is true; other faults pass unchanged. */
    faults: (isForPeople: (c: PaperContext) => boolean) =>
      createMiddleware<PaperEnv>(async (c, next) => {
        await next();
        const { error } = c;
        // Messages of `unavailable` are for the log only.
        if (!(error instanceof Fault) || error.code === 'unavailable' || !isForPeople(c)) return;
        if (c.get('site') === undefined || c.get('isHidden')) {
          if (c.req.method === 'GET') c.res = notFoundHandler(app)(c);
          return;
        }
        const t = phrasesIn(c).reader;
        const paragraphs = [forReader(c, error, c.res.headers.get('Retry-After'))];
        const link = { url: orderUrl(c), text: t.to_desk };
        c.res = await said(c, { heading: t.failed_title, paragraphs, link }, c.res.status);
      }),
  };
}
