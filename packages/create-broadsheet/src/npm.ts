import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { Refusal } from './refusal.ts';

/** Error codes of npm and Node for a registry that cannot be reached. */
const OFFLINE = /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ENOTCACHED)\b/;

/** Throws a Refusal unless the registry answers and has this version of Broadsheet. */
export function requirePublished(version: string): void {
  const wanted = `broadsheet@${version}`;
  const { status, stdout, stderr } = npm(process.cwd(), ['view', wanted, 'version', '--fetch-retries=0']);
  if (status === 0 && stdout.includes(version)) return;
  if (status === 0 || /\bE404\b|\bETARGET\b/.test(stderr)) {
    throw new Refusal(
      `${registry()} has no ${wanted}; check npm's setting registry, or take another version of create-broadsheet`,
    );
  }
  throw failure(stderr);
}

/** Throws a Refusal unless there is a tarball, as `npm pack` names it. */
export function requireTarball(file: string): void {
  if (file.endsWith('.tgz') && statSync(file, { throwIfNoEntry: false })?.isFile()) return;
  throw new Refusal(`--package ${file} is not a tarball; name the broadsheet-….tgz of a release or of npm run pack`);
}

/** Installs what package.json names. Throws a Refusal that names npm's error. */
export function installPackages(folder: string): void {
  const { status, stderr } = npm(folder, ['install', '--no-audit', '--no-fund', '--loglevel=error']);
  if (status !== 0) throw failure(stderr);
}

function failure(stderr: string): Refusal {
  if (OFFLINE.test(stderr)) {
    return new Refusal(
      `${registry()} cannot be reached; nothing was created: connect to the network, or set npm's registry, and try again`,
    );
  }
  const said = stderr.replace(/^npm (?:error|ERR!) ?(?:code .*|A complete log.*|.*-debug-\d+\.log)?/gm, '').trim();
  return new Refusal(
    `npm failed, and nothing was created: ${said
      .split(/\s*\n\s*/)
      .slice(0, 3)
      .join(' ')}`,
  );
}

const registry = (): string => npm(process.cwd(), ['config', 'get', 'registry']).stdout.trim() || 'the npm registry';

function npm(cwd: string, args: string[]) {
  // The npm that runs this program, which is not always the one on the PATH.
  const { npm_execpath: own } = process.env;
  const [program, first] = own?.endsWith('npm-cli.js') ? [process.execPath, [own]] : [npmCommand(), []];
  const { status, stdout, stderr, error } = spawnSync(program, [...first, ...args], {
    cwd,
    encoding: 'utf8',
    shell: process.platform === 'win32' && program !== process.execPath,
  });
  if (error !== undefined) throw new Refusal(`npm cannot be run (${error.message}); install Node with npm`);
  return { status, stdout, stderr };
}

const npmCommand = () => (process.platform === 'win32' ? 'npm.cmd' : 'npm');
