import { createHash } from 'node:crypto';
import type { Button, Notice } from '../../../src/desk/console/views.ts';
import type { Level } from '../../../src/desk/papers/keys.ts';
import { caught, Fault } from '../../../src/shared/fault.ts';
import { FAULT_STATUS } from '../../middleware/fault.ts';
import type { Form } from '../../middleware/form-body.ts';
import { requireKeyOfLevel } from '../../middleware/key.ts';
import { type Answered, type ApiRequest, askApi, type ConsoleParts, consoleRoot, pathBelow } from './page.ts';
import { type ConsoleContext, readOwnForm } from './session.ts';

/** A change that a form of the console makes: a request to the API, and the notice about its response. */
export interface Action<Before = unknown> {
  level: Exclude<Level, 'agent'>;
  /** Reads what the change replaces, so that it can be undone. */
  before?(c: ConsoleContext, form: Form): Before;
  request(form: Form, c: ConsoleContext): ApiRequest;
  said(body: Answered['body'], form: Form, before: Before): Omit<Notice, 'kind'>;
  /** The page to go to, below the console. By default, and when refused, the page of the form. */
  next?(body: Answered['body'], form: Form): string;
  /** The page of the form. By default the path without its last part. */
  page?(form: Form, c: ConsoleContext): string;
}

const parent = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

/**
 * Does an action and redirects to the page that says what happened. If the API refuses the request, sends the page of
 * the form again, with the problems and the typed values, under the status of the refusal.
 */
export function consoleAction(parts: ConsoleParts, { level, before, request, said, next, page }: Action) {
  return async (c: ConsoleContext): Promise<Response> => {
    requireKeyOfLevel(c.get('key'), level);
    const form = await readOwnForm(c);
    const at = page?.(form, c) ?? parent(pathBelow(c));
    const again = (status: number, refused: Notice) =>
      showAgain(parts, c, at, status, { ...refused, action: pathBelow(c), given: form.given() });
    const was = before?.(c, form);
    const asked = caught(Fault, () => request(form, c));
    if (asked instanceof Fault) {
      return again(FAULT_STATUS[asked.code], refusalOf({ message: asked.message, ...asked.details }));
    }
    const { status, body } = await askApi(parts, c, asked, idempotencyKey(form, asked));
    if (status < 400) return redirect(parts, c, next?.(body, form) ?? at, { kind: 'done', ...said(body, form, was) });
    return again(status, refusalOf(body));
  };
}

/**
 * A key from the form's own value and the request: a form sent twice is one request, a form sent with changes is two.
 */
export function idempotencyKey(form: Pick<Form, 'text'>, { method, path, body }: ApiRequest): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([form.text('once'), method, path, body]))
    .digest('hex');
  return `console-${digest.slice(0, 40)}`;
}

/** Redirects to a page, which shows the notice. */
export function redirect({ notices }: ConsoleParts, c: ConsoleContext, path: string, notice: Notice): Response {
  const id = notices.put(c.get('session').id, notice);
  const [page = '', fragment] = path.split('#');
  const query = `${page.includes('?') ? '&' : '?'}said=${id}`;
  return c.redirect(`${consoleRoot(c)}${page}${query}${fragment === undefined ? '' : `#${fragment}`}`, 303);
}

/** Sends a page with a notice under another status. */
export async function showAgain(
  { ask, notices }: ConsoleParts,
  c: ConsoleContext,
  path: string,
  status: number,
  notice: Notice,
): Promise<Response> {
  const url = new URL(path, consoleRoot(c));
  url.searchParams.set('said', notices.put(c.get('session').id, notice));
  const headers = { Cookie: c.req.header('cookie') ?? '', Accept: 'text/html' };
  const response = await ask(new Request(url, { headers }), c.env);
  return new Response(response.body, { status, headers: response.headers });
}

/** The notice about a refused request. */
export function refusalOf(body: Answered['body']): Notice {
  const { message = 'the request was refused', problems = [], field } = body ?? {};
  const text = `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
  return { kind: 'refused', text, problems, ...(field === undefined ? {} : { field }) };
}

/** A button that undoes an action. */
export const undo = (action: string, label: string, fields: Record<string, string> = {}): { undo: Button } => ({
  undo: { action, label, fields },
});
