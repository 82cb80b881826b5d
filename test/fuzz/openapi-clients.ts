// Has four generators make clients of both OpenAPI documents, and these call a running server:
// node test/fuzz/openapi-clients.ts [GENERATOR…] [--kept FOLDER]
// Installs the generators from their registries, into a temporary folder or the given one; PREPARED=1 installs nothing.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { appContextIn, envIn } from '../support/app-context.ts';
import { copyDemo, run, serve } from '../support/program.ts';
import { recordProbes } from '../support/records-fixture.ts';
import { seededProbes } from '../support/seeded-records.ts';
import { DOCUMENTS, GENERATORS, type Generator } from './openapi-clients/generators.ts';

const { values, positionals } = parseArgs({
  options: {
    /** Where generators stay installed for the next run. */
    kept: { type: 'string' },
  },
  allowPositionals: true,
});

const PAPER = 'the-plumb-line';
const folder = mkdtempSync(join(tmpdir(), 'broadsheet-'));
const endings: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
const t = { after: (work: () => unknown) => void endings.unshift(work) };
let failed = false;
try {
  const project = join(folder, 'project');
  mkdirSync(project);
  copyDemo(project);
  seed(project);
  const { url, records } = await serve(t, project, { RESOLVERS: '127.0.0.1:9', LOG_LEVEL: 'error' });
  const env = {
    ...process.env,
    DESK: `${url}/${PAPER}`,
    RECORDS: records,
    ADMIN_KEY: await keyOf(project, '--paper', PAPER, '--level', 'admin'),
    ACCOUNT_KEY: await keyOf(project, '--service', 'records', '--level', 'account', '--email', 'ada@example.org'),
  };
  const documents = {
    desk: await textOf(`${env.DESK}/api/v1/openapi.json`),
    records: await textOf(`${records}/v1/openapi.json`),
  };
  for (const generator of GENERATORS) {
    const { name } = generator;
    if (positionals.length > 0 && !positionals.some((one) => name.includes(one))) continue;
    const target = join(values.kept ?? folder, name.replace(/[^\w.-]+/g, '-'));
    const why = installed(generator, target);
    if (why !== null) {
      process.stdout.write(`${name}: left out: ${why}\n`);
      continue;
    }
    for (const document of DOCUMENTS) writeFileSync(join(target, `${document}.json`), documents[document]);
    try {
      generator.call(target, env);
      process.stdout.write(`${name}: both clients called both services\n`);
    } catch (error) {
      failed = true;
      process.stdout.write(`${name}: ${(error as Error).message}\n`);
    }
  }
} finally {
  for (const end of endings) await end();
}
process.exitCode = failed ? 1 : 0;

/** Installs a generator where it is not. Returns why it cannot be used here, else null. */
function installed(generator: Generator, target: string): string | null {
  const missing = generator.needs.filter((program) => spawnSync(program, ['--help']).error !== undefined);
  if (missing.length > 0) return `${missing.join(', ')} is not on the PATH`;
  const done = join(target, 'installed');
  if (existsSync(done)) return null;
  if (process.env.PREPARED) return 'it is not installed, and PREPARED installs nothing';
  mkdirSync(target, { recursive: true });
  try {
    generator.install(target);
  } catch (error) {
    return `it could not be installed: ${(error as Error).message.slice(-500)}`;
  }
  writeFileSync(done, '');
  return null;
}

/** Some days of made-up hostnames, signed for. */
function seed(project: string): void {
  const clock = { now: Date.now() - 10 * 86_400_000 };
  const inner: (() => void)[] = [];
  const app = appContextIn({ after: (work) => void inner.push(work) }, project, clock, envIn(project));
  recordProbes(app, clock, seededProbes(Date.now() - 3_600_000, 8));
  for (const end of inner) end();
}

async function keyOf(project: string, ...args: string[]): Promise<string> {
  const { stdout, stderr } = await run(t, project, ['key', 'create', '--name', 'clients', '--json', ...args]);
  if (stdout === '') throw new Error(stderr);
  return (JSON.parse(stdout) as { key: string }).key;
}

async function textOf(address: string): Promise<string> {
  return (await fetch(address)).text();
}
