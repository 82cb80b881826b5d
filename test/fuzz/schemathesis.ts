// Has schemathesis ask both services what their own documents offer: node test/fuzz/schemathesis.ts --cases 200000
// Needs its command on the PATH (pip install schemathesis); of no package of this project.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { appContextIn, envIn } from '../support/app-context.ts';
import { copyPaper } from '../support/papers.ts';
import { copyDemo, run, serve } from '../support/program.ts';
import { recordProbes } from '../support/records-fixture.ts';
import { seededProbes } from '../support/seeded-records.ts';

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '200000' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '2' },
    /** One caller alone, by name, with all the cases. */
    only: { type: 'string' },
  },
});

const PAPER = 'the-plumb-line';
/** What schemas cannot say: rules of the house refuse bodies of the right shape, and no answer is a promise of 2xx. */
const LEFT_OUT = 'positive_data_acceptance,negative_data_rejection,ignored_auth,missing_required_header';
/**
 * A form that oEmbed does not offer is answered 501, as its specification wants. A stream is left out: OpenAPI 3.1 has
 * no word for its events, and the schema of the whole is taken for that of each.
 */
const CONFIG = `[[operations]]
include-path = "/oembed"
checks.not_a_server_error.expected-statuses = ["2xx", "4xx", 501]

[[operations]]
include-path = "/v1/stream"
enabled = false
`;
/** Nothing is refused for its number, and no name is asked for anywhere. */
const PLENTY = {
  KEYED_DAILY: '100000000',
  KEYED_PER_MINUTE: '100000000',
  KEYLESS_DAILY: '100000000',
  RESOLVERS: '127.0.0.1:9',
  LOG_LEVEL: 'error',
};

interface Caller {
  name: string;
  document: string;
  /** How much of all cases is this caller's. */
  share: number;
  headers: string[];
  /** Checks that do not hold for what it may do. */
  leftOut?: string;
}

if (spawnSync('schemathesis', ['--version']).status !== 0) {
  process.stderr.write('schemathesis is not on the PATH: nothing was asked\n');
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'broadsheet-'));
const endings: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
const t = { after: (work: () => unknown) => void endings.unshift(work) };
let failed = false;
try {
  copyDemo(folder);
  copyPaper(folder, PAPER, 'hidden', (yaml) => yaml.replace('paper_public: true', 'paper_public: false'));
  seed();
  const { url, records, child, said } = await serve(t, folder, PLENTY);
  const desk = `${url}/${PAPER}/api/v1/openapi.json`;
  const data = `${records}/v1/openapi.json`;
  const admin = await keyOf('--paper', PAPER, '--level', 'admin');
  const account = await keyOf('--service', 'records', '--level', 'account', '--email', 'ada@example.org');
  const operator = await keyOf('--service', 'records', '--level', 'operator');
  const callers: Caller[] = [
    { name: 'admin of a paper', document: desk, share: 0.4, headers: [`Authorization: Bearer ${admin}`] },
    { name: 'reader of a paper', document: desk, share: 0.15, headers: [] },
    { name: 'account', document: data, share: 0.25, headers: [`X-Service-Key: ${account}`] },
    // Of several hostnames put under watch some may have opted out: the answer says so of each, and there is none to end.
    {
      name: 'operator',
      document: data,
      share: 0.1,
      headers: [`X-Service-Key: ${operator}`],
      leftOut: 'ensure_resource_availability',
    },
    { name: 'nobody', document: data, share: 0.1, headers: [] },
  ];
  let cases = 0;
  for (const caller of callers) {
    if (values.only !== undefined && caller.name !== values.only) continue;
    const wanted = Math.round(Number(values.cases) * (values.only === undefined ? caller.share : 1));
    const asked = await ask(caller, wanted);
    cases += asked;
    process.stdout.write(`${caller.name}: ${asked} cases\n`);
    if (child.exitCode !== null) throw new Error(`the server ended: ${said.log.slice(-4_000)}`);
  }
  const errors = said.log.split('\n').filter((line) => /"level":[56]0/.test(line));
  for (const line of errors.slice(0, 20)) process.stdout.write(`the server said: ${line.slice(0, 1_000)}\n`);
  failed ||= errors.length > 0;
  process.stdout.write(`${cases} cases: ${failed ? 'something is wrong' : 'nothing is wrong'}\n`);
} finally {
  for (const end of endings) await end();
}
process.exitCode = failed ? 1 : 0;

/** Some days of made-up hostnames, signed for. */
function seed(): void {
  const clock = { now: Date.now() - 10 * 86_400_000 };
  const inner: (() => void)[] = [];
  const app = appContextIn({ after: (work) => void inner.push(work) }, folder, clock, envIn(folder));
  recordProbes(app, clock, seededProbes(Date.now() - 3_600_000, 8));
  for (const end of inner) end();
}

async function keyOf(...args: string[]): Promise<string> {
  const { stdout, stderr } = await run(t, folder, ['key', 'create', '--name', 'fuzzing', '--json', ...args]);
  if (stdout === '') throw new Error(stderr);
  return (JSON.parse(stdout) as { key: string }).key;
}

/** Asks as one caller until there were so many cases. Gives how many there were. */
async function ask(caller: Caller, wanted: number): Promise<number> {
  const { paths } = (await (await fetch(caller.document)).json()) as { paths: Record<string, object> };
  const operations = Object.values(paths)
    .flatMap(Object.keys)
    .filter((key) => /^(?:get|put|post|delete|patch|head)$/.test(key)).length;
  let asked = 0;
  for (let round = 0; asked < wanted; round++) {
    const { code, text } = await schemathesis(caller, Math.ceil((wanted - asked) / operations), round);
    if (code !== 0) {
      failed = true;
      process.stdout.write(text);
    }
    const cases = Number(/([\d,]+) generated/.exec(text)?.[1]?.replaceAll(',', '') ?? 0);
    if (cases === 0) throw new Error(`schemathesis asked nothing: ${text.slice(-2_000)}`);
    asked += cases;
  }
  return asked;
}

async function schemathesis(caller: Caller, each: number, round: number) {
  const config = join(folder, 'schemathesis.toml');
  writeFileSync(config, CONFIG);
  const args = ['--config-file', config, 'run', caller.document, '--phases', 'examples,coverage,fuzzing,stateful'];
  args.push(
    '--checks',
    'all',
    '--exclude-checks',
    [LEFT_OUT, caller.leftOut].filter((list) => list !== undefined).join(','),
    '--continue-on-failure',
    '--no-color',
  );
  args.push('--max-examples', String(each), '--seed', String(Number(values.seed) + round));
  args.push('--workers', values.workers, '--request-timeout', '30', '--suppress-health-check', 'all');
  args.push('--generation-database', 'none');
  for (const header of caller.headers) args.push('-H', header);
  // It leaves its notes where it is started.
  const child = spawn('schemathesis', args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (more: string) => {
      text += more;
    });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, text };
}
