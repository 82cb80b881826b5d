import type { Context } from 'hono';
import { Fault } from '../../src/fault.ts';
import type { Workshop } from '../../src/works/workshop.ts';
import { wantsRecord } from '../answers/wants-record.ts';

/** When to look again, in seconds. */
const RETRY_AFTER = '2';

const PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><meta name="robots" content="noindex"><meta http-equiv="refresh" content="${RETRY_AFTER}"><title>Being pressed</title></head>
<body><h1>Being pressed</h1><p>This page is on its way to the disk. It shows itself here in a moment.</p></body>
</html>
`;

/** The answer to who asks for a page that the ledger has and the disk has not yet. Throws `unavailable` for who wants a record. */
export function beingPressed(c: Context): Response {
  if (wantsRecord(c)) throw new Fault('unavailable', 'this page is being pressed; try again soon');
  return c.html(PAGE, 503, {
    'Retry-After': RETRY_AFTER,
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'none'",
    'X-Content-Type-Options': 'nosniff',
    Vary: 'Accept',
  });
}

/** Whether a path that is not on disk is that of a piece on air, which a press is yet to put there. */
export function isOnItsWay({ store }: Workshop, paper: string, path: string): boolean {
  const name = /^\/(?:stories|embed)\/([a-z0-9-]+)(?:\/|\.md$|$)/.exec(path)?.[1];
  if (name === undefined || store.manifest.lastDue(paper) === 0) return false;
  const archive = store.archive(paper);
  const story = archive.storyBySlug(name) ?? archive.storyById(name);
  return story?.state === 'on_air';
}
