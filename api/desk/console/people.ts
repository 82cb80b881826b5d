import { ACTION_NAMES, activityView } from '../../../src/desk/console/activity-words.ts';
import type { Form } from '../../middleware/form-body.ts';
import { requireKeyOfLevel } from '../../middleware/key.ts';
import { respond } from '../../responses/headers.ts';
import { PRIVATE } from '../../responses/send.ts';
import { type Action, undo } from './action.ts';
import { type Answered, type ConsoleParts, fetchApi, readApi, type Shown } from './page.ts';
import type { ConsoleContext } from './session.ts';

// The pages of people and programs show lists of the API, read with the key of the session.

/** The parameters of a page that a list of the API takes too. */
function queryOf(c: ConsoleContext, ...names: string[]): URLSearchParams {
  const given = names.flatMap((name) => {
    const value = c.req.query(name);
    return value ? [[name, value.slice(0, 4_000)]] : [];
  });
  return new URLSearchParams(given);
}

/** The next page of a list, as a path below the console. */
function olderOf(path: string, query: URLSearchParams, { next_cursor: cursor }: Answered['body']): string | null {
  if (cursor === null) return null;
  const next = new URLSearchParams(query);
  next.set('cursor', cursor);
  return `${path}?${next}`;
}

const idIn = (c: ConsoleContext): string => encodeURIComponent(c.req.param('id') ?? '');
const given = (form: Form, ...names: string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, form.text(name)]).filter(([, value]) => value !== ''));

/** The agreement, keys and seats, with what each did. */
export async function agentsPage(parts: ConsoleParts, c: ConsoleContext): Promise<Shown> {
  const [terms, { keys }] = [await readApi(parts, c, 'agent/terms'), await readApi(parts, c, 'keys')];
  const personas = parts.app.store.desk
    .archive(c.get('site').slug)
    .masthead()
    .map(({ slug, name }) => ({ slug, name }));
  return ['/console/agents', 'Agents and keys', { terms, keys, personas, own: c.get('key').id }];
}

export const agentActions: Record<string, Action> = {
  'agents/terms': {
    level: 'admin',
    request: (form) => ({ method: 'POST', path: 'agent/terms/accept', body: given(form, 'version', 'signed_by') }),
    said: ({ signed_by }) => ({ text: `Signed by ${signed_by}. Agents may write now.` }),
  },
  'agents/make': {
    level: 'admin',
    request: (form) => ({
      method: 'POST',
      path: 'keys',
      body: given(form, 'level', 'name', 'seat', 'persona', 'expires_at'),
    }),
    said: ({ id, name, key }) => ({
      text: `${name} has a key.`,
      secret: { label: 'The key.', text: key },
      ...undo(`agents/${id}/revoke`, 'Revoke it again'),
    }),
  },
  'agents/:id/revoke': {
    level: 'admin',
    request: (_form, c) => ({ method: 'DELETE', path: `keys/${idIn(c)}` }),
    said: ({ name }) => ({ text: `The key “${name}” is revoked for good; make another if it was a mistake.` }),
    page: () => 'agents',
  },
  'agents/:id/pause': {
    level: 'admin',
    request: (form, c) => ({ method: 'PUT', path: `keys/${idIn(c)}`, body: { paused: form.text('paused') === 'yes' } }),
    said: ({ id, name, state }) => {
      const isPaused = state === 'paused';
      return {
        text: isPaused ? `“${name}” is paused: it can read but not write.` : `“${name}” may write again.`,
        ...undo(`agents/${id}/pause`, isPaused ? 'Let it write again' : 'Pause it', {
          paused: isPaused ? 'no' : 'yes',
        }),
      };
    },
    page: () => 'agents',
  },
};

/** Who subscribes, and how many over time. */
export async function readersPage(parts: ConsoleParts, c: ConsoleContext): Promise<Shown> {
  const query = queryOf(c, 'q', 'state', 'cursor');
  const list = await readApi(parts, c, `subscribers?${query}`);
  const { days } = await readApi(parts, c, 'subscribers/counts?days=90');
  const view = {
    readers: list.subscribers ?? null,
    total: list.total ?? list.count,
    confirmed: list.confirmed,
    days,
    asked: { q: query.get('q') ?? '', state: query.get('state') ?? '' },
    older: olderOf('readers', query, { next_cursor: null, ...list }),
  };
  return ['/console/readers', 'Readers', view];
}

/** The readers as a CSV file, as the API exports them. */
export function readersCsv(parts: ConsoleParts) {
  return async (c: ConsoleContext): Promise<Response> => {
    requireKeyOfLevel(c.get('key'), 'admin');
    const response = await fetchApi(parts, c, {
      method: 'GET',
      path: `subscribers/export?${queryOf(c, 'q', 'state')}`,
    });
    return respond(c, await response.text(), response.status, {
      'Content-Type': response.headers.get('Content-Type') ?? 'text/plain; charset=UTF-8',
      'Content-Disposition': `attachment; filename="readers-${c.get('site').slug}.csv"`,
      'Cache-Control': PRIVATE,
      'X-Content-Type-Options': 'nosniff',
    });
  };
}

/** All that is stored about one reader. */
export async function readerPage(parts: ConsoleParts, c: ConsoleContext): Promise<Shown> {
  const email = c.req.param('email') ?? '';
  const reader = await readApi(parts, c, `subscribers/${encodeURIComponent(email)}`);
  return ['/console/reader', email, { reader }];
}

export const readerActions: Record<string, Action> = {
  'readers/invite': {
    level: 'admin',
    request: (form) => ({
      method: 'POST',
      path: 'subscribers',
      body: {
        emails: form
          .text('emails')
          .split(/[\s,;]+/)
          .filter(Boolean),
      },
    }),
    said: ({ results }) => ({
      text: 'Each address that is not a reader yet gets one mail that asks to confirm.',
      problems: results
        .filter(({ status }: { status: string }) => status !== 'pending')
        .map(({ email, status, message }: Record<string, string>) => ({
          field: email,
          message: message ?? `is ${status}`,
        })),
    }),
  },
  'readers/:email/erase': {
    level: 'admin',
    request: (_form, c) => ({
      method: 'DELETE',
      path: `subscribers/${encodeURIComponent(c.req.param('email') ?? '')}`,
    }),
    said: ({ email }) => ({
      text: `${email} is forgotten, and cannot be brought back; the reader may subscribe again.`,
    }),
    next: () => 'readers',
  },
};

/** Receivers of events, and what was sent. */
export async function webhooksPage(parts: ConsoleParts, c: ConsoleContext): Promise<Shown> {
  const query = queryOf(c, 'state', 'webhook', 'cursor');
  const { webhooks } = await readApi(parts, c, 'webhooks');
  const list = await readApi(parts, c, `deliveries?${query}`);
  const view = {
    webhooks,
    sections: c.get('site').paper.sections,
    deliveries: list.deliveries,
    asked: { state: query.get('state') ?? '', webhook: query.get('webhook') ?? '' },
    older: olderOf('webhooks', query, list),
  };
  return ['/console/webhooks', 'Webhooks', view];
}

const toWebhooks = () => 'webhooks';

export const webhookActions: Record<string, Action> = {
  'webhooks/add': {
    level: 'admin',
    request: (form) => {
      const sections = form.all('section');
      const body = { url: form.text('url'), cast: form.text('cast') === 'yes' };
      return { method: 'POST', path: 'webhooks', body: sections.length === 0 ? body : { ...body, sections } };
    },
    said: ({ id, url, secret }) => ({
      text: `Events go to ${url}.`,
      secret: { label: 'The secret that signs them.', text: secret },
      ...undo(`webhooks/${id}/remove`, 'Remove it again'),
    }),
  },
  'webhooks/:id/remove': {
    level: 'admin',
    request: (_form, c) => ({ method: 'DELETE', path: `webhooks/${idIn(c)}` }),
    said: () => ({
      text: 'The webhook is removed, with its waiting deliveries. Add its address again if it was a mistake.',
    }),
    page: toWebhooks,
  },
  'webhooks/:id/pause': {
    level: 'admin',
    request: (form, c) => ({
      method: 'PUT',
      path: `webhooks/${idIn(c)}`,
      body: { paused: form.text('paused') === 'yes' },
    }),
    said: ({ id, url, paused_at: pausedAt }) => ({
      text:
        pausedAt === null ? `Events go to ${url} again.` : `${url} is paused, and its waiting deliveries are given up.`,
      ...undo(`webhooks/${id}/pause`, pausedAt === null ? 'Pause it' : 'Resume it', {
        paused: pausedAt === null ? 'yes' : 'no',
      }),
    }),
    page: toWebhooks,
  },
  'webhooks/:id/test': {
    level: 'admin',
    request: (_form, c) => ({ method: 'POST', path: `webhooks/${idIn(c)}/test` }),
    said: ({ webhook }) => ({ text: `A test is on its way to ${webhook.host}; the list below will show the result.` }),
    page: toWebhooks,
  },
  'webhooks/:id/secret': {
    level: 'admin',
    request: (_form, c) => ({ method: 'POST', path: `webhooks/${idIn(c)}/secret` }),
    said: ({ secret, old_secret_until: until }) => ({
      text: until
        ? `The webhook has a new secret. The old one signs beside it until ${until}.`
        : 'The webhook has a new secret.',
      secret: { label: 'The new secret.', text: secret },
    }),
    page: toWebhooks,
  },
  'deliveries/:id/retry': {
    level: 'admin',
    request: (_form, c) => ({ method: 'POST', path: `deliveries/${idIn(c)}/retry` }),
    said: ({ webhook }) => ({ text: `It is sent to ${webhook.host} again; the list below will show the result.` }),
    page: toWebhooks,
  },
};

/** Reads of pages, as the server counts them. */
export async function countsPage(parts: ConsoleParts, c: ConsoleContext): Promise<Shown> {
  return ['/console/counts', 'Counts', { counts: await readApi(parts, c, 'counts?days=30') }];
}

/** Who changed what. */
export async function activityPage(parts: ConsoleParts, c: ConsoleContext): Promise<Shown> {
  const query = queryOf(c, 'who', 'action', 'outcome', 'since', 'subject', 'cursor');
  const list = await readApi(parts, c, `activity?${query}`);
  const { keys } = await readApi(parts, c, 'keys');
  const asked = Object.fromEntries(['who', 'action', 'outcome'].map((name) => [name, query.get(name) ?? '']));
  const view = {
    rows: list.activity.map(activityView),
    keys,
    actions: ACTION_NAMES,
    asked,
    older: olderOf('activity', query, list),
  };
  return ['/console/activity', 'Activity', view];
}
