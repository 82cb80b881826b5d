import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { envIn } from '../support/app-context.ts';
import { run, type Serving, serve } from '../support/program.ts';
import { send } from '../support/send.ts';
import { enterPapers, storyBody } from '../support/small-papers.ts';

export const PAPER = 'tide-table';
/** How long a line of the log may take until it is read here, in ms. */
const LOG_LAG = 500;

/** A real server of one small paper, and what readers and writers see of it. */
export interface Stand {
  folder: string;
  serving: Serving;
  key: string;
  /** The statuses of a front page, a story and a search. */
  reading(): Promise<string>;
  /** Files a piece and puts it on air, now or at a time; returns the status, with the message of a refusal. */
  filing(slug: string, air?: true | string): Promise<string>;
  /** When a piece went on air, in ms. */
  airedAt(slug: string): Promise<number>;
  /** Whether a piece has its page. */
  isShown(slug: string): Promise<boolean>;
  /** What the server logged from level warn on, since the last call: each message with how often. */
  logged(): Promise<Map<string, number>>;
  /** Whether a line was logged, since the last call of `logged`. */
  seen(text: RegExp): boolean;
  /** `/health` of the desk. */
  health(): Promise<Record<string, unknown>>;
  /** Stops the server, audits the desk, and asserts that these pieces are there. */
  assertKept(slugs: readonly string[]): Promise<void>;
}

interface Shown {
  slug: string;
  published_at: string;
}

export async function standIn(t: TestContext, folder: string, more: Record<string, string> = {}): Promise<Stand> {
  const key = (await enterPapers(folder, [{ slug: PAPER }])).get(PAPER)?.admin ?? '';
  const serving = await serve(t, folder, { LOG_LEVEL: 'info', ...more });
  const { url } = serving;
  const authorization = `Bearer ${key}`;
  let read = 0;
  const isShown = async (slug: string) => (await at(`/stories/${slug}/`)).status === 200;
  const at = (path: string) => send(url, { path: `/${PAPER}${path}` });
  return {
    folder,
    serving,
    key,
    async reading() {
      const paths = { front: '/', story: '/stories/high-water/', search: '/api/v1/search?q=white' };
      const seen = await Promise.all(
        Object.entries(paths).map(async ([name, path]) => `${name} ${(await at(path)).status}`),
      );
      return seen.join(', ');
    },
    async filing(slug, air = true) {
      const { status, text } = await send(url, {
        method: 'POST',
        path: `/${PAPER}/api/v1/stories`,
        headers: { authorization },
        body: { ...storyBody(slug), air },
      });
      const { error, message } = JSON.parse(text) as { error?: string; message?: string };
      return status < 300 ? String(status) : `${status} \`${error}\`: “${(message ?? '').replaceAll(folder, '…')}”`;
    },
    isShown,
    async airedAt(slug) {
      const { stories } = JSON.parse((await at('/api/v1/stories')).text) as { stories: Shown[] };
      return Date.parse(stories.find((one) => one.slug === slug)?.published_at ?? '');
    },
    async logged() {
      await sleep(LOG_LAG);
      const lines = serving.said.log
        .slice(read)
        .split('\n')
        .filter((line) => line.startsWith('{'));
      read = serving.said.log.length;
      const told = new Map<string, number>();
      for (const line of lines) {
        const { level, msg, job } = JSON.parse(line) as { level: number; msg: string; job?: string };
        const name = job === undefined ? msg : `${job}: ${msg}`;
        if (level >= 40) told.set(name, (told.get(name) ?? 0) + 1);
      }
      return told;
    },
    seen: (text) => text.test(serving.said.log.slice(read)),
    health: async () => JSON.parse((await send(url, { path: '/health' })).text) as Record<string, unknown>,
    async assertKept(slugs) {
      for (const slug of slugs) assert.ok(await within(30_000, () => isShown(slug)), `${slug} is shown`);
      assert.equal((await serving.stop()).code, 0);
      // A head that was cosigned just before the end changes pages, which the next start presses.
      assert.equal((await run(t, folder, ['press'], { ...more, ORIGIN: url })).code, 0);
      const audit = await run(t, folder, ['audit'], { ...more, ORIGIN: url });
      assert.equal(audit.code, 0, audit.stdout + audit.stderr);
      assert.ok(join(folder, 'var') === envIn(folder).DATA_DIR);
    },
  };
}

/** Repeats a question until the answer is yes, for so many ms at most. */
export async function within(ms: number, ask: () => Promise<boolean> | boolean): Promise<boolean> {
  const end = performance.now() + ms;
  for (;;) {
    if (await ask()) return true;
    if (performance.now() > end) return false;
    await sleep(100);
  }
}
