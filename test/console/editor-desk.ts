import { randomBytes } from 'node:crypto';
import type { Browser, BrowserContext } from 'playwright-core';
import type { ConsoleSession } from '../../src/desk/console/session.ts';
import { makePaperKey } from '../../src/desk/papers/paper-keys.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { newId } from '../../src/shared/new-id.ts';
import { beginSession } from '../../src/shared/session.ts';
import { envIn, type Scope, tempFolder } from '../support/app-context.ts';
import { copyDemo } from '../support/program.ts';
import { serveHere } from '../support/serve-here.ts';

/** A paper of the demo whose console is open to a browser. */
export interface EditorDesk {
  /** The URL of the paper. */
  paper: string;
  /** The paper's API as an admin: a JSON body, and the JSON answer. */
  api(method: string, path: string, body?: unknown): Promise<{ status: number; body: any }>;
  /** A browser window in which a seat is signed in. */
  signedIn(browser: Browser, options?: Parameters<Browser['newContext']>[0]): Promise<BrowserContext>;
}

export async function editorDesk(t: Scope): Promise<EditorDesk> {
  const folder = tempFolder(t);
  copyDemo(folder);
  const served = await serveHere(t, folder, { SERVICES: 'desk' });
  const app = await openAppContext(readSettings(envIn(folder)));
  const { key, made } = makePaperKey(app, 'the-plumb-line', { level: 'admin', name: 'Editor' });
  const { token } = beginSession<ConsoleSession>(
    { sessions: app.store.desk.consoleSessions, now: Date.now, newId, random: randomBytes },
    { paper: 'the-plumb-line', key: made.id, began: 'key', browser: 'Chromium', network: '127.0.0.0/24' },
  );
  const paper = `${served.url}/the-plumb-line`;
  return {
    paper,
    async api(method, path, body) {
      const response = await fetch(`${paper}/api/v1/${path}`, {
        method,
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: await response.json() };
    },
    async signedIn(browser, options = {}) {
      const context = await browser.newContext(options);
      await context.addCookies([{ name: 'console-the-plumb-line', value: token, url: `${paper}/` }]);
      return context;
    },
  };
}
