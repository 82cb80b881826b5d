import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fileContent } from '../../src/desk/ingest/content-folder.ts';
import { DAY } from '../../src/proof/time.ts';
import { intakeOf } from '../../src/server/context.ts';
import { appContextIn, type Scope, tempFolder } from './app-context.ts';
import { START } from './pressed-paper.ts';

/** The demo paper that reads its sources. */
export const PAPER = 'the-plumb-line';
const CONTENT = fileURLToPath(new URL(`../../content/${PAPER}`, import.meta.url));
const NEEDED = /^(?:$|paper\.yaml|documents|masthead|media|stories$|stories\/desk-note-(?:two|corr)|facts$)/;

/** The demo paper with its two desk notes, which cite documents of the demo. */
export async function demoPaper(t: Scope) {
  const folder = tempFolder(t);
  cpSync(CONTENT, join(folder, 'content', PAPER), {
    recursive: true,
    filter: (from) => NEEDED.test(from.slice(CONTENT.length + 1)),
  });
  const app = appContextIn(t, folder, { now: START + DAY });
  const { problems } = await fileContent(intakeOf(app));
  assert.deepEqual(problems, []);
  return app;
}
