import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from 'hono';
import { html } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import PostalMime, { type Address } from 'postal-mime';
import type { AppContext } from '../../../src/server/context.ts';
import { isLoopbackHost } from '../../../src/shared/public-address.ts';
import type { DeskEnv } from '../../env.ts';
import { peerOf } from '../../middleware/caller.ts';
import { forwardedBy, LOOPBACK } from '../../middleware/forwarded.ts';
import type { HostHandler } from '../route.ts';

/** The address of the mails that were not sent; no paper can be called `newsstand`. */
export const OUTBOX_PATH = '/newsstand/outbox/';
/** How many mails the list shows, the newest first. */
const SHOWN = 200;
/** Names of files in the outbox, which are made from Message-IDs. */
const NAME = /^[\w.-]{1,200}$/;

/** Mails run no scripts and fetch nothing. */
const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; frame-ancestors 'none'";
const MAIL_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'";

/**
 * The pages that show the mails in the outbox folder to somebody who tries the program out. They contain secret links, so
 * they exist only while no mail server is set, and only for a browser on this machine that asks for a loopback name
 * without a proxy.
 */
export function outboxHandlers({ settings }: Pick<AppContext, 'settings'>) {
  const folder = join(settings.dataDir, 'outbox');
  const isOpen = (c: Context<DeskEnv>) =>
    settings.smtpUrl === undefined &&
    LOOPBACK.test(peerOf(c.env)) &&
    forwardedBy(c.env) === undefined &&
    isLoopbackHost(new URL(c.req.url).hostname);
  const mailIn = async (c: Context<DeskEnv>) => {
    const name = c.req.param('name') ?? '';
    const file = join(folder, `${name}.eml`);
    return NAME.test(name) && existsSync(file) ? { name, mail: await PostalMime.parse(readFileSync(file)) } : null;
  };
  return {
    list: async (c, next) => {
      if (!isOpen(c)) return next();
      const mails = await Promise.all(
        newestIn(folder).map(async ({ name, at }) => ({
          name,
          at,
          mail: await PostalMime.parse(readFileSync(join(folder, `${name}.eml`))),
        })),
      );
      const rows = mails.map(
        ({ name, at, mail }) =>
          html`<tr><td>${at.toISOString().slice(0, 19).replace('T', ' ')}</td><td>${addressed(mail.to)}</td><td><a href="${name}">${mail.subject ?? '(no subject)'}</a></td></tr>`,
      );
      return send(
        c,
        'Outbox',
        html`<p>SMTP_URL is not set, so these mails were written to <code>${folder}</code> and not sent. Only this machine sees this page.</p>
${rows.length === 0 ? html`<p>No mail yet.</p>` : html`<table><tr><th>Written (UTC)</th><th>To</th><th>Subject</th></tr>${rows}</table>`}`,
      );
    },
    mail: async (c, next) => {
      const found = isOpen(c) ? await mailIn(c) : null;
      if (found === null) return next();
      const { name, mail } = found;
      return send(
        c,
        mail.subject ?? '(no subject)',
        html`<p><a href="${OUTBOX_PATH}">All mails</a></p>
<p>From ${addressed([mail.from])}<br>To ${addressed(mail.to)}</p>
<pre>${linked(mail.text ?? '')}</pre>
${mail.html ? html`<iframe src="${name}/html" title="The mail as HTML" sandbox></iframe>` : ''}`,
      );
    },
    body: async (c, next) => {
      const found = isOpen(c) ? await mailIn(c) : null;
      if (found === null) return next();
      return c.html(found.mail.html ?? '', 200, {
        'Content-Security-Policy': MAIL_POLICY,
        'Cache-Control': 'no-store',
      });
    },
  } satisfies Record<string, HostHandler>;
}

function newestIn(folder: string): { name: string; at: Date }[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith('.eml') && NAME.test(file.slice(0, -'.eml'.length)))
    .map((file) => ({ name: file.slice(0, -'.eml'.length), at: statSync(join(folder, file)).mtime }))
    .sort((a, b) => b.at.getTime() - a.at.getTime())
    .slice(0, SHOWN);
}

const addressed = (addresses: (Address | undefined)[] = []): string =>
  addresses.map((one) => (one?.name ? `${one.name} <${one.address}>` : (one?.address ?? ''))).join(', ');

/** A text with its addresses as links. */
function linked(text: string) {
  return text
    .split(/(https?:\/\/[^\s<>"]+)/)
    .map((part, n) => (n % 2 === 0 ? part : html`<a href="${part}">${part}</a>`));
}

function send(c: Context<DeskEnv>, title: string, body: HtmlEscapedString | Promise<HtmlEscapedString>) {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: start; vertical-align: top; padding: 0.4rem 1rem 0.4rem 0; border-block-end: 1px solid #8886; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: 1rem; border: 1px solid #8886; }
iframe { inline-size: 100%; block-size: 40rem; border: 1px solid #8886; background: #fff; }
</style>
</head>
<body>
<h1>${title}</h1>
${body}
</body>
</html>
`;
  return c.html(page, 200, { 'Content-Security-Policy': PAGE_POLICY, 'Cache-Control': 'no-store' });
}
