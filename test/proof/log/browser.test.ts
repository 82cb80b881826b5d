import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

/** What a reader's browser is to run: it hashes and verifies by what it is given. */
const ENTRIES = ['verify.ts', 'policy.ts', 'leaf.ts', 'log-proof.ts'];

const FROM = /^(?:import|export) (type )?(?:[^'";]*? from )?'([^']+)';/gm;

test('the proof checker imports nothing of Node, even transitively', () => {
  const reached = new Set(ENTRIES.map((name) => new URL(`../../../src/proof/log/${name}`, import.meta.url).href));
  // The set grows while it is walked.
  for (const file of reached) {
    for (const [, isType, name] of readFileSync(new URL(file), 'utf8').matchAll(FROM)) {
      if (isType !== undefined) continue;
      assert(name?.startsWith('.') || name?.startsWith('@noble/'), `${file} imports ${name}`);
      if (name?.startsWith('.')) reached.add(new URL(name, file).href);
    }
  }
  assert(reached.size > 10, 'the files are found');
});
