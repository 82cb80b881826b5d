import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Browser, chromium } from 'playwright-core';
import { FileLock } from '../../src/shared/sql/file-lock.ts';

/** Quiet: nothing is asked of any host but the one under test. */
const FLAGS = [
  '--no-sandbox',
  '--no-zygote',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** How long a browser may take to begin, in ms. */
const LAUNCH_MAX = 60_000;

/** Where distributions put theirs. */
const INSTALLED = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/**
 * Opens a headless Chromium: the one named by CHROMIUM, the machine's own, or the one that npm brings. Open it before a
 * server, which would be left running, and its test with it, where no browser starts. `more` are further variables of
 * its environment.
 */
export async function openBrowser(more: Record<string, string> = {}): Promise<Browser> {
  const executablePath = process.env.CHROMIUM ?? INSTALLED.find(existsSync) ?? (await fromNpm());
  const env = { ...(process.env as Record<string, string>), ...more };
  const launch = () => chromium.launch({ executablePath, args: FLAGS, timeout: LAUNCH_MAX, env });
  // On a busy machine one may crash, or say nothing, before it has begun: nothing of ours was asked of it.
  return launch().catch(launch);
}

/**
 * The package unpacks the libraries that bare machines lack (NSS, expat) only where it believes itself on Lambda. It takes
 * a browser that another process is still unpacking for a whole one, which the system then refuses to start.
 */
async function fromNpm(): Promise<string> {
  process.env.AWS_EXECUTION_ENV ??= 'AWS_Lambda_nodejs22.x';
  const { default: packed } = await import('@sparticuz/chromium');
  const lock = new FileLock(join(tmpdir(), 'broadsheet-chromium.lock'));
  while (!lock.take()) await pause(100);
  try {
    return await packed.executablePath();
  } finally {
    lock.close();
  }
}
