import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { deskProblems } from '../../api/desk/console/today.ts';
import { HOUR } from '../../src/proof/time.ts';
import { signHead } from '../../src/signing/log/log-head.ts';
import { openLogKey } from '../../src/signing/log/log-key.ts';
import { appContextIn, createPaper, PAPER, tempFolder } from '../support/app-context.ts';
import { ed25519Witness } from '../support/log.ts';
import { publish } from '../support/newsroom.ts';

test('today names pages that wait and witnesses that are silent', (t) => {
  const folder = tempFolder(t);
  const policy = join(folder, 'policy');
  writeFileSync(
    policy,
    `witness w1 ${ed25519Witness('witness.example/w1', 4).vkey} https://witness.example/\nquorum w1\n`,
  );
  const clock = { now: Date.UTC(2026, 10, 20, 12) };
  const app = appContextIn(t, folder, clock, { LOG_POLICY: policy });
  createPaper(app);
  publish(app, 'one');
  signHead(app, 'desk', openLogKey(app, 'desk'));
  const named = () => deskProblems(app, PAPER).map(({ text }) => text);

  assert.equal(named().length, 1);
  assert.match(named()[0] ?? '', /^Pages are being written/);

  clock.now += 6 * HOUR;
  assert.equal(
    named().some((text) => /witnesses/.test(text)),
    false,
  );
  clock.now += 1;
  assert.ok(
    named().some((text) => /^The witnesses have not confirmed the last \d+ entries/.test(text)),
    String(named()),
  );
});
