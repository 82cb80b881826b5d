import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROJECT } from '../../src/shared/project.ts';
import { found, run } from './child.ts';
import { note } from './table.ts';

/** What is built where no Hugo is on the PATH. */
const MODULE = 'github.com/gohugoio/hugo@v0.165.0';
/** Outlives a run: the build takes minutes. */
const CACHE = join(PROJECT, 'node_modules/.cache/broadsheet-bench', MODULE.replaceAll('/', '-'));
/** Where Go's own installer puts it. */
const GO = '/usr/local/go/bin/go';

export interface Hugo {
  program: string;
  /** As it calls itself: `hugo 0.165.0`. */
  version: string;
}

/** Where to look for Hugo, and how to make one. */
export interface HugoSearch {
  path?: string;
  cache?: string;
  go?: string;
}

/** Hugo of the PATH, or one built by Go, or null: the bench says so and leaves it out. */
export async function findHugo({ path, cache = CACHE, go = GO }: HugoSearch = {}): Promise<Hugo | null> {
  const program = found('hugo', path) ?? (await builtHugo(cache, found('go', path) ?? go));
  if (program === null) return null;
  const { stdout } = await run(program, ['version'], { cwd: tmpdir() });
  const version = /v(\d+\.\d+\.\d+)/.exec(stdout)?.[1];
  if (version === undefined) throw new Error(`${program} does not tell its version: ${stdout}`);
  return { program, version: `hugo ${version}` };
}

async function builtHugo(cache: string, go: string): Promise<string | null> {
  const program = join(cache, 'hugo');
  if (existsSync(program)) return program;
  if (!existsSync(go)) {
    note('hugo is left out: neither hugo nor go is on the PATH');
    return null;
  }
  note(`hugo is not on the PATH: building ${MODULE}, once`);
  const folder = mkdtempSync(join(tmpdir(), 'broadsheet-bench-go-'));
  try {
    // Its modules and objects are a gigabyte that nothing else needs.
    const env = { GOPATH: folder, GOBIN: folder, GOCACHE: join(folder, 'cache'), GOFLAGS: '-modcacherw' };
    await run(go, ['install', MODULE], { cwd: folder, env });
    mkdirSync(cache, { recursive: true });
    // The two folders may be on different disks; a copy that was cut off is not taken for Hugo.
    cpSync(join(folder, 'hugo'), `${program}.part`);
    renameSync(`${program}.part`, program);
    return program;
  } catch (error) {
    note(`hugo is left out: it was not built: ${error instanceof Error ? error.message : error}`);
    return null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
