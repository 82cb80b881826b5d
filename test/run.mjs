// Runs every test: builds the pages if they are not those of the present code, then calls Node's own runner.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'broadsheet-build-'));
// Hundreds of processes read the same modules: what Node made of each is kept for the others, as long as this runs.
const compiled = join(folder, 'compiled');
const env = { ...process.env, ASTRO_TELEMETRY_DISABLED: '1', NODE_COMPILE_CACHE: compiled };
const run = (args, more = {}) =>
  spawnSync(process.execPath, args, { stdio: 'inherit', env: { ...env, ...more } }).status ?? 1;

try {
  // The build files and presses as well: in a folder of its own, so that no paper of the reader's is touched.
  const built = run(['node_modules/astro/bin/astro.mjs', 'build'], {
    DATA_DIR: join(folder, 'var'),
    DIST_DIR: join(folder, 'papers'),
  });
  const files = process.argv.slice(2);
  // As many files at a time as there are cores: most of them wait for the processes that they start.
  const atATime = `--test-concurrency=${availableParallelism()}`;
  process.exitCode = built || run(['--test', atATime, ...(files.length > 0 ? files : ['test/**/*.test.ts'])]);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
