import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parse } from 'yaml';
import { PROJECT } from '../../src/shared/project.ts';
import { envIn, tempFolder, treeOf } from '../support/app-context.ts';
import { without } from '../support/log-peers.ts';
import { loopback } from '../support/loopback.ts';
import { run } from '../support/program.ts';
import { BUCKET, S3Server, storeEnv } from '../support/s3-server.ts';
import { enterPapers } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { DEPLOY } from './fixture.ts';

const PAPER = 'tide-table';
const STATE = 'state/state.tar.zst';

/** Readers see what is published. */
function readers(t: TestContext, store: S3Server): Promise<string> {
  const server = createServer((request, response) => {
    const text = store.bytes(`site${request.url}`);
    response.writeHead(text === undefined ? 404 : 200).end(text, 'latin1');
  });
  return loopback(t, server);
}

test('a build continues from its state on an ephemeral machine', {
  skip: ONLY_WIDE || without('bash', 'curl'),
}, async (t) => {
  const content = tempFolder(t);
  await enterPapers(content, [{ slug: PAPER }]);
  const store = await S3Server.start(t);
  const { PUBLISH_URL = '', ...rest } = storeEnv(store.endpoint);
  const origin = await readers(t, store);

  const build = async (more: Record<string, string> = {}) => {
    const machine = tempFolder(t);
    cpSync(join(content, 'content'), join(machine, 'content'), { recursive: true });
    store.received.length = 0;
    const env = { ...envIn(machine), ...rest, PUBLISH_URL, ORIGIN: origin, STATE: `s3://${BUCKET}/${STATE}` };
    const child = spawn(join(DEPLOY, 'ci/build.sh'), { cwd: PROJECT, env: { ...process.env, ...env, ...more } });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
    const [code] = await once(child, 'close');
    const puts = store.received.filter(({ method, key }) => method === 'PUT' && key.startsWith('site/')).length;
    const published = store.paths(`site/${PAPER}/`).filter((path) => path !== '.broadsheet.json');
    if (code === 0) {
      const pressed = treeOf(join(machine, 'papers', PAPER));
      assert.deepEqual(published, [...pressed.keys()].sort());
      for (const [path, text] of pressed) assert.equal(store.bytes(`site/${PAPER}/${path}`), text, path);
    }
    return { code, said, puts, machine, env };
  };
  const keys = () => store.bytes(`site/${PAPER}/.well-known/newsdesk-keys.json`);
  const size = () => Number((store.bytes('site/log/checkpoint') ?? '').split('\n')[1]);

  const nothing = await build();
  assert.notEqual(nothing.code, 0);
  assert.equal(nothing.puts, 0, 'without a state nothing begins by itself');

  const first = await build({ BEGIN: '1' });
  assert.equal(first.code, 0, first.said);
  const [key, leaves, before] = [keys(), size(), store.objects.get(STATE)];
  assert.ok(leaves > 0 && before !== undefined);

  const story = join(content, 'content', PAPER, 'stories/high-water.md');
  writeFileSync(join(content, 'content', PAPER, 'stories/spring-tide.md'), readFileSync(story));
  const second = await build();
  assert.equal(second.code, 0, second.said);
  assert.equal(keys(), key, 'the same desk goes on');
  assert.ok(size() > leaves);
  assert.ok(store.bytes(`site/${PAPER}/stories/spring-tide/index.html`)?.includes('The Tide Table'));
  assert.ok(second.puts < 60, `${second.puts} of ${first.puts} files sent`);
  if (ONLY_WIDE) return;
  const audited = await run(t, second.machine, ['audit'], second.env);
  assert.equal(audited.code, 0, audited.stdout);

  // A state from before the last run, as a careless hand restores it.
  store.objects.set(STATE, before);
  rmSync(join(content, 'content', PAPER, 'stories/spring-tide.md'));
  writeFileSync(join(content, 'content', PAPER, 'stories/neap-tide.md'), readFileSync(story));
  const leavesOfTwo = size();
  const stale = await build();
  assert.notEqual(stale.code, 0);
  assert.match(stale.said, /its published checkpoint has/);
  assert.equal(stale.puts, 0);
  assert.equal(size(), leavesOfTwo);
});

test('the workflow gives the script what it asks for', () => {
  const { jobs } = parse(readFileSync(join(DEPLOY, 'ci/github.yml'), 'utf8'));
  const { env } = jobs.publish.steps.at(-1);
  const script = readFileSync(join(DEPLOY, 'ci/build.sh'), 'utf8');
  const asked = [...script.matchAll(/\$\{([A-Z_]+):[?]/g)].map(([, name]) => name);
  assert.deepEqual(asked.sort(), ['ORIGIN', 'PUBLISH_URL', 'STATE', 'STATE_PASSPHRASE']);
  // A bucket, not a branch: there is nothing to encrypt.
  assert.match(env.STATE, /^s3:/);
  for (const name of ['ORIGIN', 'PUBLISH_URL', 'STATE', 'BEGIN', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])
    assert.ok(name in env, name);
});
