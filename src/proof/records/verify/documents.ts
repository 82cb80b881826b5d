import { DUMP_HEADER } from '../../dump-note.ts';
import { DuplicateMember, parseIJson } from '../../i-json.ts';
import { LOG_PROOF, type LogProof } from '../../log/log-proof.ts';
import { isObject, mismatches, type Shape, unknownMembers } from '../../members.ts';
import { badgeParts } from '../badge.ts';
import type { Evidence } from '../evidence.ts';
import type { FullRecord, Preview } from '../preview.ts';

/** A page of a domain's receipts, newest first. */
export interface ProvenancePage {
  domain: string;
  items: { seq: number; observed_at: string; record_root: string; receipt: string; log?: LogProof | null }[];
  /** The corrections of the clock that cover one of the receipts: signed notes. */
  clock?: string[];
  /** Null on the page that ends with the domain's first observation. */
  next_cursor?: string | null;
}

/** The proof of a public dump, whose note has the hashes of its files (protocol 5.11). */
export interface DumpProof {
  day: string;
  note: string;
  log?: LogProof | null;
}

/** A verifiable document of this service. `unsigned` names the members that no signature covers. */
export type RecordsDocument = { unsigned: string[] } & (
  | { kind: 'receipt'; receipt: string }
  | { kind: 'badge'; receipt: string; svg: string }
  | { kind: 'preview'; preview: Preview }
  | { kind: 'record'; record: FullRecord }
  | { kind: 'provenance'; page: ProvenancePage }
  | { kind: 'evidence'; bundle: Evidence }
  | { kind: 'dump'; proof: DumpProof }
  /** The document claims to be of a kind but does not have its shape. */
  | { kind: 'misshapen'; of: Form | 'document'; faults: string[] }
);

const COMMON: Shape = {
  domain: 'a text',
  unicode: 'a text',
  registrable_domain: 'a text or null',
  observed_at: 'a text',
  seq: 'a whole number',
  summary: 'an object',
  receipt: 'a text',
};

const PREVIEW: Shape = {
  ...COMMON,
  preview: true,
  signed: false,
  notice: 'a text',
  nameservers: ['a text'],
  disclosures: [{ index: 'a whole number', disclosure: 'a text', path: ['a text'] }],
  held_back: { fields: 'a whole number', how: 'a text' },
};

const RECORD: Shape = {
  ...COMMON,
  preview: false,
  signed: true,
  signals: 'an object',
  certificate: 'an object or null',
  certificate_status: 'a text',
  wildcard: 'true, false or null',
  services: ['an object'],
  disclosures: ['a text'],
};

const LOGGED_RECORD: Shape = { ...RECORD, 'log??': LOG_PROOF };

/** Members of a bundle's key that are checked against its bytes. Its period comes from the service's own key list. */
const KEY: Shape = {
  vkey: 'a text',
  'kid?': 'a text',
  'x?': 'a text',
  'kty?': 'a text',
  'crv?': 'a text',
  'use?': 'a text',
  'alg?': 'a text',
};

const EVIDENCE: Shape = {
  evidence: 'a text',
  domain: 'a text',
  keys: [KEY],
  records: [LOGGED_RECORD],
  'clock?': ['a text'],
};

const PROVENANCE: Shape = {
  domain: 'a text',
  items: [
    { seq: 'a whole number', observed_at: 'a text', record_root: 'a text', receipt: 'a text', 'log??': LOG_PROOF },
  ],
  'clock?': ['a text'],
  'keys_url?': 'a text',
  'total?': 'a whole number',
  'next_cursor?': 'a text or null',
};

const DUMP: Shape = { day: 'a text', note: 'a text', 'keys_url?': 'a text', 'log??': LOG_PROOF };

const SHAPES = { preview: PREVIEW, record: RECORD, provenance: PROVENANCE, evidence: EVIDENCE, dump: DUMP };

/** Unsigned members that the service adds to each kind. */
const WORDS: Record<keyof typeof SHAPES, string[]> = {
  preview: ['notice', 'held_back.how'],
  record: [],
  provenance: ['keys_url', 'total', 'next_cursor'],
  evidence: [],
  dump: ['keys_url'],
};

/**
 * Parses a receipt, plain or as a JSON string; a JSON document; or a badge with a receipt. Null for anything else; JSON
 * with a duplicate member is a misshapen `document`. Shared by the command line and a reader's browser.
 */
export function documentIn(text: string): RecordsDocument | null {
  const trimmed = text.replaceAll('\r\n', '\n').trim();
  if (trimmed.startsWith('domain-observation/')) return { kind: 'receipt', receipt: `${trimmed}\n`, unsigned: [] };
  if (trimmed.startsWith('<svg')) return badgeIn(trimmed);
  if (!/^[{"]/.test(trimmed)) return null;
  let json: unknown;
  try {
    json = parseIJson(trimmed);
  } catch (error) {
    if (!(error instanceof DuplicateMember)) return null;
    return { kind: 'misshapen', of: 'document', faults: [`the document ${error.message}`], unsigned: [] };
  }
  // A receipt copied from JSON, with its quotation marks.
  if (typeof json === 'string') return json.startsWith('domain-observation/') ? documentIn(json) : null;
  return jsonDocument(json);
}

/** Also accepts the JSON of a page, which may contain an answer in its member `preview` or `observation`. */
export function jsonDocument(json: unknown): RecordsDocument | null {
  if (!isObject(json)) return null;
  const form = formOf(json);
  if (form !== null) return formed(form, json);
  for (const name of ['preview', 'observation']) {
    const inner = json[name];
    const innerForm = isObject(inner) ? formOf(inner) : null;
    if (innerForm === null) continue;
    const document = formed(innerForm, inner);
    const beside = Object.keys(json).filter((other) => other !== name);
    return { ...document, unsigned: [...beside, ...document.unsigned.map((member) => `${name}.${member}`)] };
  }
  return null;
}

type Form = keyof typeof SHAPES;

/** The kind of document that parsed JSON claims to be. */
function formOf({ evidence, preview, domain, items, note }: Record<string, unknown>): Form | null {
  if (typeof note === 'string' && note.startsWith(`${DUMP_HEADER}\n`)) return 'dump';
  if (evidence === 'domain-evidence/v1') return 'evidence';
  if (typeof preview === 'boolean') return preview ? 'preview' : 'record';
  if (domain === undefined || !Array.isArray(items)) return null;
  const isProvenance = items.length === 0 || items.some((item) => isObject(item) && item.receipt !== undefined);
  return isProvenance ? 'provenance' : null;
}

function formed(form: Form, json: unknown): RecordsDocument {
  const faults = mismatches(json, SHAPES[form]);
  if (faults.length > 0) return { kind: 'misshapen', of: form, faults, unsigned: [] };
  const words = WORDS[form].filter((path) => has(json, path));
  const unsigned = [...words, ...unknownMembers(json, SHAPES[form])];
  switch (form) {
    case 'preview':
      return { kind: form, preview: json as Preview, unsigned };
    case 'record':
      return { kind: form, record: json as FullRecord, unsigned };
    case 'provenance':
      return { kind: form, page: json as ProvenancePage, unsigned };
    case 'evidence':
      return { kind: form, bundle: json as Evidence, unsigned };
    case 'dump':
      return { kind: form, proof: json as DumpProof, unsigned };
  }
}

function badgeIn(svg: string): RecordsDocument | null {
  const parts = badgeParts(svg);
  if (parts === null) return null;
  return {
    kind: 'badge',
    receipt: parts.receipt,
    svg,
    unsigned: parts.page === null ? [] : [`where it leads (${parts.page})`],
  };
}

function has(json: unknown, path: string): boolean {
  let at: unknown = json;
  for (const name of path.split('.')) at = isObject(at) ? at[name] : undefined;
  return at != null;
}
