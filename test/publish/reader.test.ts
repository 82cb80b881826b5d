import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withdrawStory } from '../../src/desk/airing.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { publishTrees } from '../../src/operate/publish/publish-run.ts';
import { deskOf } from '../../src/server/context.ts';
import { parseAddress } from '../../src/shared/storage/address.ts';
import { openBucket } from '../../src/shared/storage/publish-target.ts';
import { paperOf } from '../press/paper-copy.ts';
import { PAPER } from '../support/app-context.ts';
import { DAY, publish, START } from '../support/pressed-paper.ts';
import { follow, PREFIX } from '../support/reader-links.ts';
import { BUCKET, CREDENTIALS, S3Server } from '../support/s3-server.ts';
import { ONLY_WIDE } from '../support/wide.ts';

/** The publications of a test: two without and two with a piece that is withdrawn, on a push one of each. */
const ROUNDS = ONLY_WIDE === false ? [0, 1, 2, 3] : [1, 2];

test('at no moment of a publication does a page link to one that is not there', { skip: ONLY_WIDE }, async (t) => {
  const { app, clock } = await paperOf(t, 29);
  const store = await S3Server.start(t);
  const address = parseAddress(`s3://${BUCKET}/site?endpoint=${store.endpoint}`);
  assert.ok(typeof address !== 'string');
  const bucket = openBucket(
    { ...app.settings, objectStorage: { ...app.settings.objectStorage, ...CREDENTIALS } },
    address,
  );
  const send = () => publishTrees(app, address, bucket, { paper: PAPER });
  await send();
  const broken = new Set<string>();
  let looks = 0;
  // A look at everything that links lead to, after each write, is more than any reader can do.
  store.intercept = ({ method }) => {
    if (method === 'GET') return false;
    const { reached, broken: found } = follow(store);
    for (const link of found) broken.add(link);
    assert.ok(reached > 60, `${reached} reached`);
    looks++;
    return false;
  };
  for (const n of ROUNDS) {
    clock.now += DAY;
    publish(app, `new-${n}`, START + n * DAY);
    if (n > 1) withdrawStory(deskOf(app), PAPER, `piece-${n}`, { by: 'cli', reason: 'It was never so.' });
    await pressPapers(app, { cards: false });
    await send();
  }
  assert.ok(looks > 15 * ROUNDS.length, `${looks} looks`);
  assert.deepEqual([...broken], []);
  assert.ok(store.objects.has(`${PREFIX}stories/new-${ROUNDS.at(-1)}/index.html`));
});
