import { spawn } from 'node:child_process';
import { printError } from './output.ts';

/** Opens an address in the user's browser, with the system's own command. Says so where there is none. */
export function openInBrowser(url: string): void {
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const child = spawn(opener, [url], { stdio: 'ignore', detached: true });
  child.on('error', () => printError(`${opener} is not there, so no browser was opened; open ${url} yourself`));
  child.unref();
}
