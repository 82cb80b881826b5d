import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { progressTo } from '../../src/shared/terminal/progress.ts';

/** A stream that is a terminal or is none, and what was written to it. */
function streamOf(isTTY: boolean) {
  const stream = new PassThrough().setEncoding('utf8');
  return { stream: Object.assign(stream, { isTTY }) as unknown as NodeJS.WriteStream, text: () => stream.read() ?? '' };
}

test('work whose end is not known says how far it came, and ends at the true number', (t) => {
  t.mock.timers.enable({ apis: ['Date'] });
  const { stream, text } = streamOf(false);
  const progress = progressTo(stream);
  t.mock.timers.tick(6_000);
  progress.step('import quay', 200, null, '');
  t.mock.timers.tick(1_000);
  progress.step('import quay', 300, null, '');
  progress.end();
  assert.equal(text(), 'import quay: 200 so far\nimport quay: 300\n');
});

test('work whose end is known ends at it once, however quick its last part is', (t) => {
  t.mock.timers.enable({ apis: ['Date'] });
  const { stream, text } = streamOf(false);
  const progress = progressTo(stream);
  t.mock.timers.tick(6_000);
  progress.step('press quay', 5, 6, 'a');
  progress.step('press quay', 6, 6, 'b');
  progress.end();
  assert.equal(text(), 'press quay: 5 of 6\npress quay: 6 of 6\n');
});

test('quick work prints no line', () => {
  const { stream, text } = streamOf(false);
  const progress = progressTo(stream);
  progress.step('import quay', 300, null, '');
  progress.end();
  assert.equal(text(), '');
});

test('a terminal shows a count without a bar where the end is not known', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1e12 });
  const { stream, text } = streamOf(true);
  const progress = progressTo(stream);
  progress.step('import quay', 200, null, 'tide');
  progress.end();
  assert.equal(text(), '\r\x1b[Kimport quay 200 tide\r\x1b[K');
});
