import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import * as z from 'zod';
import type { Agreement } from '../desk/terms.ts';
import type { Settings } from '../env.ts';
import { Fault } from '../fault.ts';
import { normalized } from '../ledger/marks.ts';
import { PROJECT } from '../project.ts';

const FILE = 'agreement.md';

/** The form of a version: a token that stands in an address, a log line or a message as it is. */
const VERSION = /^[0-9A-Za-z][0-9A-Za-z._-]{0,39}$/;

const FrontMatter = z.object({ version: z.string().regex(VERSION) });

/**
 * Reads the agreement for agents: `agreement.md` in the content folder, else
 * the one that comes with the project. Line ends and outer blanks are no part
 * of its text, so that another checkout of it is the same text. Throws
 * `unavailable`, naming the file and the cure.
 */
export function readAgreement(settings: Pick<Settings, 'contentDir'>): Agreement {
  const own = join(settings.contentDir, FILE);
  const file = existsSync(own) ? own : join(PROJECT, 'content', FILE);
  const match = /^---[ \t]*\n([\s\S]*?)^---[ \t]*(?:\n|$)([\s\S]*)$/m.exec(textOf(file));
  if (match === null || match.index !== 0) {
    throw faulty(file, 'does not begin with front matter; begin it with a line ---, a version, and a line ---');
  }
  const front = FrontMatter.safeParse(valuesOf(file, match[1] ?? ''));
  if (!front.success) {
    throw faulty(
      file,
      'has no version that can be signed; give one in its front matter as a quoted word of 1 to 40 letters, digits, dots and hyphens, as in version: "2026-11-21"',
    );
  }
  const text = normalized(match[2] ?? '').trim();
  if (text === '') throw faulty(file, 'has no text; write the agreement below its front matter');
  return { version: front.data.version, text };
}

function textOf(file: string): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
    return text.replace(/\r\n?/g, '\n');
  } catch (error) {
    throw faulty(file, `cannot be read (${(error as Error).message}); put a readable file in UTF-8 there`);
  }
}

function valuesOf(file: string, yaml: string): unknown {
  try {
    return parse(yaml);
  } catch (error) {
    throw faulty(file, `has front matter that is no YAML (${(error as Error).message.split('\n')[0]}); correct it`);
  }
}

function faulty(file: string, what: string): Fault {
  return new Fault('unavailable', `the agreement for agents, ${file}, ${what}`);
}
