import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import * as z from 'zod';
import { normalized } from '../../shared/combining-marks.ts';
import { Fault, messageOf } from '../../shared/fault.ts';
import { PROJECT } from '../../shared/project.ts';
import type { Agreement } from './terms.ts';

const FILE = 'agreement.md';

/** A version must need no escaping in an address, a log line or a message. */
const VERSION = /^[0-9A-Za-z][0-9A-Za-z._-]{0,39}$/;

const FrontMatter = z.object({ version: z.string().regex(VERSION) });

/** The agreement for agents in force: the content folder's own, or the one that ships with the project. */
export function currentAgreement({ contentDir }: { contentDir: string }): Agreement {
  return readAgreement([contentDir, join(PROJECT, 'content')]);
}

/**
 * Reads the agreement for agents: `agreement.md` in the first of these folders that has one, else in the last.
 * Normalizes line endings and trims the text, so that every checkout of the file has the same text. Throws
 * `unavailable`, naming the file and the remedy.
 */
export function readAgreement(folders: [...string[], string]): Agreement {
  const files = folders.map((folder) => join(folder, FILE));
  const file = files.find((path) => existsSync(path)) ?? files.at(-1) ?? FILE;
  const match = /^---[ \t]*\n([\s\S]*?)^---[ \t]*(?:\n|$)([\s\S]*)$/m.exec(textOf(file));
  if (match === null || match.index !== 0) {
    throw faulty(file, 'does not start with front matter; start it with a line ---, a version, and a line ---');
  }
  const front = FrontMatter.safeParse(valuesOf(file, match[1] ?? ''));
  if (!front.success) {
    throw faulty(
      file,
      'has no valid version; give one in its front matter as a quoted word of 1 to 40 letters, digits, dots, underscores and hyphens, as in version: "2026-11-21"',
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
    throw faulty(file, `cannot be read (${messageOf(error)}); replace it with a readable file in UTF-8`);
  }
}

function valuesOf(file: string, yaml: string): unknown {
  try {
    return parse(yaml);
  } catch (error) {
    throw faulty(file, `has front matter that is not YAML (${messageOf(error).split('\n')[0]}); correct it`);
  }
}

function faulty(file: string, what: string): Fault {
  return new Fault('unavailable', `the agreement for agents, ${file}, ${what}`);
}
