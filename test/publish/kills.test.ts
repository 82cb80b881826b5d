import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withdrawStory } from '../../src/desk/airing.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { deskOf } from '../../src/server/context.ts';
import { Random } from '../press/model/random.ts';
import { PAPER, treeOf } from '../support/app-context.ts';
import { DAY, paperOf, publish, START } from '../support/pressed-paper.ts';
import { run, start } from '../support/program.ts';
import { follow, PREFIX } from '../support/reader-links.ts';
import { S3Server, storeEnv } from '../support/s3-server.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const KILLS = Number(process.env.PUBLISH_KILLS ?? 3);
/** Files that are in flight, and those that were sent and not recorded yet. */
const AGAIN_MAX = 32 + 256;

test('no kill of a publication leaves a link without its page, or sends much again', { skip: ONLY_WIDE }, async (t) => {
  const seed = String(Date.now());
  const choice = new Random(seed);
  const { app, folder, clock, tree } = await paperOf(t, 29);
  const store = await S3Server.start(t);
  const env = storeEnv(store.endpoint);
  const alters = ['rss.xml', 'robots.txt', 'feed.json'];
  const onAir = Array.from({ length: 29 }, (_, at) => `piece-${at}`);
  let killed = 0;
  for (let n = 0; killed < KILLS; n++) {
    if (n > 0) {
      clock.now += DAY;
      publish(app, `new-${n}`, START + n * DAY);
      onAir.push(`new-${n}`);
      const withdrawn = choice.chance(0.5) ? onAir.shift() : undefined;
      if (withdrawn !== undefined)
        withdrawStory(deskOf(app), PAPER, withdrawn, { by: 'cli', reason: 'It was never so.' });
      await pressPapers(app, { cards: false });
    }
    const isRepair = n > 0 && choice.chance(0.3);
    const key = PREFIX + choice.pick(alters);
    const item = store.objects.get(key);
    if (isRepair && item !== undefined)
      store.objects.set(key, { ...item, bytes: Buffer.from('altered'), etag: 'altered' });
    let [writes, again] = [0, 0];
    const last = n === 0 ? choice.int(1, 150) : choice.int(1, 45);
    const before = new Map(store.objects);
    const child = start(t, folder, ['publish', '--paper', PAPER, ...(isRepair ? ['--repair'] : [])], env);
    store.intercept = ({ method, key: written }) => {
      if (method === 'GET' || method === 'HEAD') return false;
      if (++writes === last) child.child.kill('SIGKILL');
      const had = before.get(written);
      if (
        had !== undefined &&
        !written.endsWith('.json') &&
        treeOf(tree).get(written.slice(PREFIX.length)) === had.bytes.toString('latin1')
      )
        again++;
      return false;
    };
    const { signal, code, stderr } = await child.ended;
    store.intercept = () => false;
    if (signal === 'SIGKILL') killed++;
    else assert.equal(code, 0, stderr);
    const hint = `seed ${seed}, round ${n}${isRepair ? ', --repair' : ''}, killed at write ${last}`;
    if (store.objects.has(`${PREFIX}index.html`)) assert.deepEqual(follow(store).broken, [], hint);
    assert.ok(again <= AGAIN_MAX, `${again} files sent again; ${hint}`);
  }
  const { code, stderr } = await run(t, folder, ['publish', '--paper', PAPER], env);
  assert.equal(code, 0, stderr);
  const there = new Map(store.paths(PREFIX).map((path) => [path, store.bytes(PREFIX + path)]));
  there.delete('.broadsheet.json');
  assert.deepEqual(
    [...there].filter(([path]) => !treeOf(tree).has(path)),
    [],
  );
  for (const [path, bytes] of treeOf(tree))
    if (!alters.includes(path)) assert.equal(there.get(path), bytes, `${path}, seed ${seed}`);
  const check = await run(t, folder, ['publish', '--paper', PAPER, '--repair'], env);
  assert.equal(check.code, 0, check.stderr);
  assert.match((await run(t, folder, ['publish', '--paper', PAPER, '--check'], env)).stdout, /, 0 differences/);
});
