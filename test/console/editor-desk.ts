import assert from 'node:assert/strict';
import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core';
import { makePaperKey } from '../../src/desk/papers/paper-keys.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { envIn, type Scope, tempFolder } from '../support/app-context.ts';
import { copyPaper } from '../support/papers.ts';
import { copyDemo } from '../support/program.ts';
import { serveHere } from '../support/serve-here.ts';

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a body of any route
  body: any;
}

/** Papers of the demo whose consoles are open to a browser: one public, and a private copy of it. */
export interface EditorDesk {
  /** The URL of the public paper, and of the private one. */
  paper: string;
  hidden: string;
  /** The public paper's API as an admin. */
  api(method: string, path: string, body?: unknown): Promise<Answer>;
  /** A browser window in which a seat is signed in to both. */
  signedIn(browser: Browser, options?: BrowserContextOptions & { level?: 'admin' | 'read' }): Promise<BrowserContext>;
}

export async function editorDesk(t: Scope): Promise<EditorDesk> {
  const folder = tempFolder(t);
  copyDemo(folder);
  copyPaper(
    folder,
    'the-plumb-line',
    'hidden',
    (yaml) => yaml.replace('paper_public: true', 'paper_public: false'),
    [],
  );
  const { url } = await serveHere(t, folder, { SERVICES: 'desk' });
  const app = await openAppContext(readSettings(envIn(folder)));
  const keyOf = (paper: string, level: string) => makePaperKey(app, paper, { level, name: `The ${level}` }).key;
  const papers = { 'the-plumb-line': `${url}/the-plumb-line`, hidden: `${url}/hidden` };
  const paper = papers['the-plumb-line'];
  const admin = keyOf('the-plumb-line', 'admin');
  return {
    paper,
    hidden: papers.hidden,
    async api(method, path, body) {
      const response = await fetch(`${paper}/api/v1/${path}`, {
        method,
        headers: { Authorization: `Bearer ${admin}`, 'Content-Type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: await response.json() };
    },
    async signedIn(browser, { level = 'admin', ...options } = {}) {
      const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
      for (const [slug, address] of Object.entries(papers)) {
        const response = await context.request.post(`${address}/console/sign-in`, {
          form: { key: keyOf(slug, level) },
          headers: { Origin: url },
          maxRedirects: 0,
        });
        assert.equal(response.status(), 303, await response.text());
      }
      return context;
    },
  };
}
