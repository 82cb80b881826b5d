import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import type { AppContext } from '../../../src/app/context.ts';
import { Busy } from '../../../src/fault.ts';
import { wantsRecord } from '../../responses/wants-record.ts';

/** `Retry-After`, in seconds. */
const RETRY_AFTER = '2';

const STYLE =
  'body{font:1.1rem/1.6 Georgia,"Times New Roman",serif;max-width:34rem;margin:22vh auto 0;padding:0 1.5rem;text-align:center;text-wrap:balance}h1{font-size:1.8rem;font-weight:600;margin:0 0 .5em}';
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

const PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><meta name="robots" content="noindex"><meta http-equiv="refresh" content="${RETRY_AFTER}"><title>Being pressed</title><style>${STYLE}</style></head>
<body><h1>Being pressed</h1><p>This page is being made. It appears here by itself in a few seconds.</p></body>
</html>
`;

/** Answers for a page that is in the ledger but not on disk yet. Throws `unavailable` for callers that prefer JSON. */
export function beingPressed(c: Context): Response {
  if (wantsRecord(c)) throw new Busy('this page is being pressed; try again soon');
  return c.html(PAGE, 503, {
    'Retry-After': RETRY_AFTER,
    'Cache-Control': 'no-store',
    'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'`,
    'X-Content-Type-Options': 'nosniff',
    Vary: 'Accept',
  });
}

/** Whether a path that is missing on disk belongs to a piece on air that is not pressed yet. */
export function isAwaitingPress({ store }: AppContext, paper: string, path: string): boolean {
  const name = /^\/(?:stories|embed)\/([a-z0-9-]+)(?:\/|\.md$|$)/.exec(path)?.[1];
  if (name === undefined || store.manifest.newestMark(paper) === 0) return false;
  const archive = store.archive(paper);
  const story = archive.storyBySlug(name) ?? archive.storyById(name);
  return story?.state === 'on_air';
}
