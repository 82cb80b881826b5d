import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pressPlan } from '../../src/desk/jobs/press-run.ts';
import { loadBuild } from '../../src/desk/press/build.ts';
import { appContextIn, PAPER, type Scope, tempFolder } from '../support/app-context.ts';
import { paperOf as pressPaperOf, START } from '../support/pressed-paper.ts';

/** The folders of the papers pressed so far, by their numbers of pieces. */
const pressed = new Map<number, Promise<string>>();

const made: string[] = [];
process.once('exit', () => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** A folder with such a paper, which nobody has open. */
async function pressedFolder(pieces: number): Promise<string> {
  const kept = mkdtempSync(join(tmpdir(), 'broadsheet-'));
  made.push(kept);
  const ends: (() => unknown)[] = [];
  const { folder } = await pressPaperOf({ after: (end) => void ends.push(end) }, pieces);
  // The folder's removal is the first of them.
  for (const end of ends.slice(1)) await end();
  copyFolder(folder, kept);
  await ends[0]?.();
  return kept;
}

/** Keeps the files that are one file under two names, which `fs.cp` does not. */
function copyFolder(from: string, to: string): void {
  execFileSync('cp', ['-a', `${from}/.`, to]);
}

/**
 * What `paperOf` of test/support makes, as a copy: the first test of a process with so many pieces has the paper
 * pressed, which takes some fifty times as long as to copy it.
 */
export async function paperOf(t: Scope, pieces: number) {
  let source = pressed.get(pieces);
  if (source === undefined) {
    source = pressedFolder(pieces);
    pressed.set(pieces, source);
  }
  const folder = tempFolder(t);
  copyFolder(await source, folder);
  const clock = { now: START };
  const app = appContextIn(t, folder, clock);
  app.signer.open();
  // It names the folder of the tree: with another one everything would be pressed again.
  app.store.desk.manifest.setStamp(PAPER, pressPlan(app, PAPER, await loadBuild()).stamp);
  return { app, folder, clock, tree: join(folder, 'papers', PAPER) };
}
