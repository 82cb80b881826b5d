import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { Build } from '../desk/press/build.ts';
import { Fault, messageOf } from '../shared/fault.ts';
import { type DevDesk, isFramed, shownAt, typeOf, withDesk } from './shown.ts';

export const RELOADER = '/_desk/reload.js';
const CHANGES = '/_desk/changes';
const RELOAD_SCRIPT = `const changes = new EventSource('${CHANGES}');
changes.onmessage = () => location.reload();
// After a restart of the server the page may be another.
changes.onerror = () => { changes.onopen = () => location.reload(); };
`;

/** Shows the desk with the built pages, and reloads the pages that are open. */
export class DeskServer {
  readonly #dev: DevDesk;
  readonly #build: Build;
  readonly #host: string;
  readonly #open = new Set<ServerResponse>();

  /** `host` is the name under which it listens. */
  constructor(dev: DevDesk, build: Build, host: string) {
    this.#dev = dev;
    this.#build = build;
    this.#host = host;
  }

  reload(): void {
    for (const response of this.#open) response.write('data: changed\n\n');
  }

  /** Answers one request. Never rejects. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const send = (status: number, type: string, body: string | Uint8Array) =>
      response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(body);
    try {
      const url = this.#urlOf(request);
      const { pathname } = url;
      if (pathname === CHANGES) return this.#follow(response);
      if (pathname === RELOADER) return void send(200, 'text/javascript', RELOAD_SCRIPT);
      const [path] = /_astro\/[^/]+$/.exec(pathname) ?? [];
      const asset = this.#build.asset(path ?? pathname.slice(1));
      if (asset !== null) return void send(200, typeOf(pathname), asset.bytes);
      const shown = await shownAt(this.#dev, url, this.#build);
      if (shown === null) return void send(404, 'text/plain; charset=utf-8', 'There is nothing at this address.\n');
      if ('location' in shown) return void response.writeHead(307, { Location: shown.location }).end();
      const { status, type, body, isPage } = shown;
      send(status, type, isPage ? this.#page(`${body}`, url) : body);
    } catch (error) {
      const status = error instanceof Fault ? 400 : 500;
      if (!response.headersSent) send(status, 'text/plain; charset=utf-8', `${messageOf(error)}\n`);
    }
  }

  #page(html: string, url: URL): string {
    // A sandbox would block the script, and the outer page reloads its frames.
    if (isFramed(url)) return html;
    const reloading = html.replace('</head>', () => `<script type="module" src="${RELOADER}"></script></head>`);
    return withDesk(this.#dev, reloading, url);
  }

  /** Throws `invalid_request` for a host that is no address: another site may have given its name this address. */
  #urlOf({ method = '', url = '', headers }: IncomingMessage): URL {
    const address = URL.canParse(url, `http://${headers.host}`) ? new URL(url, `http://${headers.host}`) : null;
    const name = address?.hostname.replace(/^\[|\]$/g, '') ?? '';
    if (address === null || !(isIP(name) > 0 || name === this.#host || /^(?:.+\.)?localhost$/.test(name))) {
      const cure = 'open the address that the command printed, or set HOST to this name';
      throw new Fault('invalid_request', `${headers.host}: this server is not known by that name; ${cure}`);
    }
    if (method !== 'GET' && method !== 'HEAD') throw new Fault('invalid_request', `${method}: only GET and HEAD work`);
    return address;
  }

  #follow(response: ServerResponse): void {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    response.flushHeaders();
    this.#open.add(response);
    response.on('close', () => this.#open.delete(response));
  }
}
