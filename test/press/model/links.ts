import type { Disk } from './disk.ts';

/** Addresses that the server answers without a file. */
const LIVE = /^(?:api|oembed|mcp|subscribe\/|$)/;

/** The files that links of a page, or of a document, lead to and that are not there. */
export function deadLinks(disk: Disk, root: string, path: string): string[] {
  const base = new URL(root).pathname;
  const dead = new Set<string>();
  for (const [, link = ''] of (disk.read(path) ?? '').matchAll(/"((?:http:\/\/127\.0\.0\.1:\d+)?\/[^"\s<\\]*)"/g)) {
    const { pathname } = new URL(link, root);
    if (!pathname.startsWith(`${base}/`)) continue;
    const target = decodeURIComponent(pathname.slice(base.length + 1));
    if (LIVE.test(target)) continue;
    if (disk.read(target.endsWith('/') ? `${target}index.html` : target) === null) dead.add(target);
  }
  return [...dead];
}
