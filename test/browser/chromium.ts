import { existsSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { chromium } from 'playwright-core';

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

/** Where distributions put theirs. */
const INSTALLED = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Opens a headless Chromium: the one named by CHROMIUM, the machine's own, or the one that npm brings. */
export async function openBrowser(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM ?? INSTALLED.find(existsSync) ?? (await fromNpm());
  return chromium.launch({ executablePath, args: FLAGS });
}

/** The package unpacks the libraries that bare machines lack (NSS, expat) only where it believes itself on Lambda. */
async function fromNpm(): Promise<string> {
  process.env.AWS_EXECUTION_ENV ??= 'AWS_Lambda_nodejs22.x';
  const { default: packed } = await import('@sparticuz/chromium');
  return packed.executablePath();
}
