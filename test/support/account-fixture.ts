import pino from 'pino';
import type { SMTPServerOptions } from 'smtp-server';
import { loadBuild } from '../../src/desk/press/build.ts';
import { recordsMails } from '../../src/records/jobs/records-mails.ts';
import { recordsWebhooks } from '../../src/records/jobs/records-webhooks.ts';
import { smtpMailer } from '../../src/shared/net/smtp.ts';
import { startMails } from '../../src/shared/outbound/mail-job.ts';
import { deliveryTransport, startWebhooks } from '../../src/shared/outbound/webhook-job.ts';
import type { Answer } from './http.ts';
import { until } from './program.ts';
import { type RecordsStand, recordsStand } from './records-fixture.ts';
import { send } from './send.ts';
import { parsed, type SmtpStand, smtpServer } from './smtp.ts';

interface Scope {
  after(work: () => unknown): void;
}

/** The domain records with a mail server, as people use them. */
export interface AccountStand extends RecordsStand {
  smtp: SmtpStand;
  /** Requests a sign-in link and returns the token from its mail. */
  linkFor(email: string): Promise<string>;
  /** Signs in by mail. */
  signIn(email: string): Promise<Visitor>;
}

/** A minimal browser: it keeps its cookie and sends the origin of its forms. */
export class Visitor {
  readonly #url: string;
  readonly #origin: string;
  cookie = '';

  constructor(url: string, origin: string, cookie = '') {
    this.#url = url;
    this.#origin = origin;
    this.cookie = cookie;
  }

  /** Opens a page. */
  async get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.#note(await send(this.#url, { path, headers: { accept: 'text/html', ...this.#own(), ...headers } }));
  }

  /** Submits a form of the page at `from`, with its token. */
  async submit(from: string, action: string, fields: Record<string, string> = {}): Promise<Answer> {
    const page = await this.get(from);
    const token = /name="form" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
    return this.post(action, { form: token, ...fields });
  }

  /** Sends a form. */
  async post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Answer> {
    const answer = await send(this.#url, {
      method: 'POST',
      path,
      headers: {
        accept: 'text/html',
        'content-type': 'application/x-www-form-urlencoded',
        origin: this.#origin,
        ...this.#own(),
        ...headers,
      },
      body: new URLSearchParams(fields).toString(),
    });
    return this.#note(answer);
  }

  #own(): Record<string, string> {
    return this.cookie === '' ? {} : { cookie: this.cookie };
  }

  #note(answer: Answer): Answer {
    const [set] = answer.headers['set-cookie'] ?? [];
    if (set !== undefined) this.cookie = /^[^=]+=;|Max-Age=0/.test(set) ? '' : (set.split(';')[0] ?? '');
    return answer;
  }
}

/** The path to which a form redirects, without the message for the next page. */
export function pathOf({ headers }: Answer): string {
  return new URL(String(headers.location), 'http://records.example').pathname;
}

/** Serves the domain records with a mail server, and sends their due mails. */
export async function accountStand(
  t: Scope,
  more: Record<string, string> = {},
  smtpOptions: SMTPServerOptions = {},
): Promise<AccountStand> {
  const endings: (() => unknown)[] = [];
  const inside = { after: (work: () => unknown) => void endings.unshift(work) };
  t.after(async () => {
    for (const end of endings) await end();
  });
  const smtp = await smtpServer(inside, smtpOptions);
  const stand = await recordsStand(inside, more);
  const mailer = smtpMailer({ url: `smtp://127.0.0.1:${smtp.port}`, from: 'records@records.example', dkim: null });
  const { render } = await loadBuild();
  const quiet = pino({ level: 'silent' });
  const { app } = stand;
  inside.after(
    startMails(
      app,
      recordsMails(app, (content) => render('/mail', content)),
      mailer,
      quiet,
    ),
  );
  inside.after(startWebhooks(app, recordsWebhooks(app), deliveryTransport(app, 'Broadsheet-Records'), quiet));
  const origin = stand.app.settings.dataOrigin;
  const linkFor = async (email: string): Promise<string> => {
    const before = smtp.taken.length;
    await new Visitor(stand.url, origin).post('/account/sign-in', { email });
    const mail = await parsed(await until(() => smtp.taken.slice(before).find(({ to }) => to.includes(email)) ?? null));
    return /\/account\/enter\?token=([\w-]+)/.exec(mail.text ?? '')?.[1] ?? '';
  };
  return {
    ...stand,
    smtp,
    linkFor,
    async signIn(email) {
      const visitor = new Visitor(stand.url, origin);
      await visitor.post('/account/enter', { token: await linkFor(email) });
      return visitor;
    },
  };
}
