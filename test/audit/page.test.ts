import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageFault } from '../../src/operate/audit/output-audit.ts';

const view = { rows: [{ headline: 'Greenwich, by twenty-two votes' }] };
const fault = (html: string) => pageFault({ route: '/paper/section', view }, html, '');

test('a headline is on a page that keeps its compounds on one line, and an altered one is not', () => {
  assert.equal(fault('<h3>Greenwich, by <span class="whole">twenty-two</span> votes</h3>'), null);
  assert.match(fault('<h3>Greenwich, by <span class="whole">twenty-one</span> votes</h3>') ?? '', /does not show/);
  assert.match(fault('<h3>Greenwich, by <b>twenty-two</b> votes</h3>') ?? '', /does not show/);
});
