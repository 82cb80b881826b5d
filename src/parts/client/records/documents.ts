import type { Evidence } from '../../../records/evidence.ts';
import type { FullRecord, Preview } from '../../../records/preview.ts';
import type { Shape } from '../verify/shape.ts';
import { has } from '../verify/shape.ts';

/** What the service gives out that proves itself, by what is to be checked in it. */
export type Document =
  | { kind: 'receipt'; receipt: string }
  | { kind: 'preview'; preview: Preview }
  | { kind: 'record'; record: FullRecord }
  | { kind: 'bundle'; bundle: Evidence }
  /** A page of a domain's receipts, newest first. */
  | { kind: 'provenance'; domain: string; receipts: string[] };

const COMMON: Shape = {
  domain: 'string',
  unicode: 'string',
  registrable_domain: 'present',
  observed_at: 'string',
  seq: 'number',
  summary: 'object',
  receipt: 'string',
};

const PREVIEW: Shape = {
  ...COMMON,
  preview: 'boolean',
  signed: 'boolean',
  notice: 'string',
  nameservers: ['string'],
  disclosures: [{ index: 'number', disclosure: 'string', path: ['string'] }],
  held_back: { fields: 'number', how: 'string' },
};

const RECORD: Shape = {
  ...COMMON,
  preview: 'boolean',
  signed: 'boolean',
  signals: 'object',
  certificate: 'present',
  certificate_status: 'string',
  wildcard: 'present',
  services: ['object'],
  disclosures: ['string'],
};

const BUNDLE: Shape = { evidence: 'string', domain: 'string', keys: ['object'], records: [RECORD] };
const PROVENANCE: Shape = { domain: 'string', items: [{ receipt: 'string' }] };

/**
 * Reads a text as one of the documents: a receipt as it is or quoted, JSON, or a
 * badge with a receipt in it. Blanks around it do not count. Null when it is none.
 */
export function documentIn(text: string): Document | null {
  const trimmed = text.replaceAll('\r\n', '\n').trim();
  if (trimmed.startsWith('domain-observation/')) return { kind: 'receipt', receipt: `${trimmed}\n` };
  if (trimmed.startsWith('<svg')) return badgeIn(trimmed);
  let json: unknown;
  try {
    json = JSON.parse(trimmed);
  } catch {
    return null;
  }
  if (typeof json === 'string') return documentIn(json);
  return jsonDocument(json);
}

/** Reads parsed JSON as one of the documents; an answer may also stand in a member `preview` or `record` of a page's JSON. */
export function jsonDocument(json: unknown): Document | null {
  if (typeof json !== 'object' || json === null) return null;
  const { preview, signed, evidence } = json as Record<string, unknown>;
  if (evidence === 'domain-evidence/v1' && has(json, BUNDLE)) return { kind: 'bundle', bundle: json as Evidence };
  if (preview === true && signed === false && has(json, PREVIEW)) return { kind: 'preview', preview: json as Preview };
  if (preview === false && signed === true && has(json, RECORD)) return { kind: 'record', record: json as FullRecord };
  if (has(json, PROVENANCE)) {
    const { domain, items } = json as { domain: string; items: { receipt: string }[] };
    return { kind: 'provenance', domain, receipts: items.map(({ receipt }) => receipt) };
  }
  const inner = (json as Record<string, unknown>).preview ?? (json as Record<string, unknown>).observation;
  return typeof inner === 'object' ? jsonDocument(inner) : null;
}

function badgeIn(svg: string): Document | null {
  const picture = new DOMParser().parseFromString(svg, 'image/svg+xml');
  const receipt = picture.querySelector('metadata')?.textContent?.trim();
  return receipt?.startsWith('domain-observation/') ? { kind: 'receipt', receipt: `${receipt}\n` } : null;
}
