import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import * as z from 'zod';
import { sha256 } from '../../proof/basis.ts';
import { isoTime } from '../../proof/time.ts';
import { normalized } from '../../shared/combining-marks.ts';
import { Fault, messageOf } from '../../shared/fault.ts';
import { PROJECT } from '../../shared/project.ts';
import { isLine, shownProblems } from '../../shared/shown-text.ts';

/** Maximum length of a signer's name, in UTF-16 units. */
const SIGNED_BY_MAX = 200;

/** The agreement that agents need before they write: `content/agreement.md`, for all papers of a server. */
export interface Agreement {
  version: string;
  /** Markdown. */
  text: string;
}

/** A record that a paper's operator signed one text of the agreement. */
interface Signature {
  paper: string;
  version: string;
  /** `sha256:<hex>` of the signed text. */
  digest: string;
  /** The signer's name, as entered. */
  signed_by: string;
  /** In ms. */
  signed_at: number;
  /** The public id of the admin key that signed. */
  key: string;
}

/** The table of signatures. */
export interface TermsTable {
  /** Stores a signature, unless the paper has already signed this version of this text: the first signature stays. */
  insert(signature: Signature): void;
  /** The paper's signature of this version of this text, or null. */
  current(paper: string, version: string, digest: string): Signature | null;
}

/** The agreement, and whether the paper has signed it. */
export const TermsRecord = z
  .object({
    version: z.string().meta({ description: 'The version in force.', example: '2026-11-21' }),
    text: z.string().meta({ description: 'The agreement, in Markdown.' }),
    signed: z.boolean().meta({ description: 'Whether the paper has signed this version of this text.' }),
    signed_at: z.iso.datetime().nullable().meta({ example: '2026-11-21T07:06:00.000Z' }),
    signed_by: z.string().nullable().meta({ example: 'Mara Vell, publisher' }),
  })
  .meta({ id: 'Terms', description: 'The agreement that an agent’s writes need, and whether this paper signed it.' });
export type TermsRecord = z.infer<typeof TermsRecord>;

/** The body of `POST /api/v1/agent/terms/accept`. */
export const TermsAcceptance = z
  .strictObject({
    version: z.string().meta({ description: 'The version in force, as the terms give it.', example: '2026-11-21' }),
    signed_by: z
      .string()
      .min(1)
      .max(SIGNED_BY_MAX)
      .meta({ description: 'Who signs for the paper: one line.', example: 'Mara Vell, publisher' }),
  })
  .meta({ id: 'TermsAcceptance', description: 'The operator’s signature under the agreement.' });

/** The paper's signature of the current agreement; null when it is not signed yet. */
export function signatureOf(terms: Pick<TermsTable, 'current'>, agreement: Agreement, paper: string): Signature | null {
  return terms.current(paper, agreement.version, sha256(agreement.text));
}

/** The agreement in wire format. Signatures of other versions or other texts do not count. */
export function termsRecord(agreement: Agreement, signature: Signature | null): TermsRecord {
  const { version, text } = agreement;
  const counts = signature?.version === version && signature.digest === sha256(text);
  return {
    version,
    text,
    signed: counts,
    signed_at: counts ? isoTime(signature.signed_at) : null,
    signed_by: counts ? signature.signed_by : null,
  };
}

/** The signing request, at a time in ms. */
export type Signing = Pick<Signature, 'paper' | 'version' | 'signed_by' | 'key'> & {
  terms: TermsTable;
  agreement: Agreement;
  now: number;
};

/**
 * Signs the agreement for a paper and returns the valid signature: the first one, if the paper had already signed
 * this text. Throws `invalid_request` when `signed_by` is not a line of 1 to `SIGNED_BY_MAX` characters, `conflict`
 * when the version is not current.
 */
export function signTerms({ terms, agreement, paper, version, signed_by, key, now }: Signing): Signature {
  const name = normalized(signed_by).trim();
  if (name === '' || name.length > SIGNED_BY_MAX || !isLine(name) || shownProblems('', name).length > 0) {
    const message = `signed_by ${JSON.stringify(signed_by.slice(0, 80))} names nobody; give who signs for the paper in one line of 1 to ${SIGNED_BY_MAX} characters`;
    throw new Fault('invalid_request', message, { field: 'signed_by' });
  }
  if (version !== agreement.version) {
    const message = `version ${JSON.stringify(version.slice(0, 80))} is not the agreement in force, which is ${JSON.stringify(agreement.version)}; read /api/v1/agent/terms and sign that one`;
    throw new Fault('conflict', message);
  }
  const digest = sha256(agreement.text);
  terms.insert({ paper, version, digest, signed_by: name, signed_at: now, key });
  const signature = terms.current(paper, version, digest);
  if (signature === null) throw new Error(`the signature of ${paper} was stored but cannot be read`);
  return signature;
}

const FILE = 'agreement.md';

/** Allows only characters that need no escaping in an address, a log line or a message. */
const VERSION = /^[0-9A-Za-z][0-9A-Za-z._-]{0,39}$/;

const FrontMatter = z.object({ version: z.string().regex(VERSION) });

/** The current agreement for agents: the content folder's own, or the one that ships with the project. */
export function currentAgreement({ contentDir }: { contentDir: string }): Agreement {
  return readAgreement([contentDir, join(PROJECT, 'content')]);
}

/**
 * Reads the agreement for agents: `agreement.md` in the first of these folders that has it, else in the last.
 * Normalizes line endings and trims the text, so that every checkout of the file gives the same text. Throws
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
