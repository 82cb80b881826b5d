import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { appContextIn, type Clock, PAPER, type Scope, tempFolder, treeOf } from './app-context.ts';

/** Presses everything from a copy of the database into a new folder. */
export async function fullPress(t: Scope, folder: string, clock: Clock, cards: boolean): Promise<Map<string, string>> {
  const other = tempFolder(t);
  cpSync(join(folder, 'var'), join(other, 'var'), { recursive: true });
  const app = appContextIn(t, other, clock);
  app.store.desk.manifest.markStale(PAPER, ['news']);
  await pressPapers(app, { full: true, cards });
  return treeOf(join(other, 'papers', PAPER));
}

/** Fails naming the first file that differs between two trees. */
export function assertSameTree(actual: Map<string, string>, expected: Map<string, string>): void {
  assert.deepEqual([...actual.keys()].sort(), [...expected.keys()].sort());
  for (const [path, bytes] of expected) assert.equal(actual.get(path), bytes, `${path} differs`);
}
