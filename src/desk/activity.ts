import type { FactVersion } from '../proof/fact-note.ts';
import { isoTime } from '../proof/time.ts';
import { normalized } from '../shared/combining-marks.ts';
import { hostOf } from '../shared/outbound/webhook-url.ts';
import type { Problem } from '../shared/shape.ts';
import type { StateName, Story } from './archive.ts';
import type { RecordKind } from './ledger-entry.ts';
import type { AccessKey, KeyWork } from './papers/keys.ts';
import type { Placement } from './placement.ts';

/** The actions that a paper's activity log can record. */
export const ACTIONS = [
  'piece.filed',
  'piece.revised',
  'piece.aired',
  'piece.scheduled',
  'piece.withdrawn',
  'piece.reviewed',
  'pieces.imported',
  'fact.corrected',
  'front.placed',
  'config.changed',
  'persona.changed',
  'cast.published',
  'page.put',
  'page.removed',
  'media.uploaded',
  'media.removed',
  'key.made',
  'key.revoked',
  'key.paused',
  'key.resumed',
  'seat.made',
  'seat.revoked',
  'session.begun',
  'session.ended',
  'passkey.added',
  'passkey.removed',
  'terms.accepted',
  'webhook.added',
  'webhook.changed',
  'webhook.secret',
  'webhook.tested',
  'webhook.removed',
  'delivery.retried',
  'subscribers.invited',
  'subscriber.erased',
  'subscriber.suppressed',
  'host.given',
  'host.removed',
  'paper.removed',
  'paper.restored',
] as const;
export type Action = (typeof ACTIONS)[number];

/** The interface through which a change was made. */
export const WAYS = ['api', 'console', 'mcp', 'cli', 'folder'] as const;
export type Way = (typeof WAYS)[number];

/** What a change is about. */
export const SUBJECTS = [
  'piece',
  'persona',
  'cast',
  'page',
  'media',
  'key',
  'webhook',
  'delivery',
  'host',
  'fact',
] as const;

/** The subject of a change. Rows show a piece's present slug and headline, so neither is given here. */
export interface Subject {
  kind: (typeof SUBJECTS)[number];
  /** Its id, slug, day or path; null for a piece that was not filed. */
  id: string | null;
  slug?: string | undefined;
  title?: string | undefined;
}

/** One change: the action, its subject and some details. Details never contain a reader's address. */
export interface Change {
  action: Action;
  subject?: Subject;
  detail?: Record<string, unknown>;
}

/** Who acts, through which interface and from where. */
export interface Actor {
  /** The id of an access key, `cli` or `folder`. */
  who: string;
  way: Way;
  /** The caller's network as `callerNetwork` gives it; null for a command. */
  network: string | null;
}

/** The operator at a command line. */
export const CLI_ACTOR: Actor = { who: 'cli', way: 'cli', network: null };
/** A folder of content, which a server or a command files. */
export const FOLDER_ACTOR: Actor = { who: 'folder', way: 'folder', network: null };

/** A change as it is stored. Times in ms. */
interface Recorded extends Actor {
  id: string;
  paper: string;
  at: number;
  action: Action;
  refused: boolean;
  subject: Subject | null;
  detail: Record<string, unknown>;
}

/** A change as the log returns it, with its key and its piece as they are now. */
export interface ActivityRow extends Omit<Recorded, 'subject'> {
  subject: (Subject & { state: StateName | null }) | null;
  key: Pick<AccessKey, 'name' | 'level' | 'seat'> | null;
}

export interface ActivityQuery {
  limit: number;
  /** The time and id of the last row of the page before. */
  after?: { at: number; id: string } | undefined;
  who?: string | undefined;
  action?: Action | undefined;
  /** The id of a subject. */
  subject?: string | undefined;
  refused?: boolean | undefined;
  /** From this time on, in ms. */
  since?: number | undefined;
}

export interface ActivityTable {
  add(row: Recorded): void;
  /** Adds to a key's counts. Returns how many of its filings were refused in this hour. */
  count(key: string, work: { filed: number; refused: number; at: number }): number;
  /** Newest first. */
  list(paper: string, query: ActivityQuery): ActivityRow[];
  /** For each key, how much it filed and how many filings were refused, from a time on. */
  since(paper: string, at: number): { who: string; filed: number; refused: number }[];
  /** The counts of a key. */
  workOf(key: string): KeyWork | null;
  /** How many pieces that a key filed are on air. */
  onAir(key: string): number;
  /** Deletes rows made at or before a time. */
  prune(until: number): void;
}

interface ActivityStore {
  activity: ActivityTable;
}

/** The paper, the time and the ids for recording changes. */
interface Recording {
  paper: string;
  now: number;
  newId(): string;
}

/** Records changes. Call it in the transaction that makes them. */
export function recordActivity(
  { activity }: ActivityStore,
  { paper, now, newId }: Recording,
  actor: Actor,
  changes: readonly Change[],
): void {
  for (const { action, subject = null, detail = {} } of changes) {
    activity.add({ id: newId(), paper, at: now, ...actor, action, refused: false, subject, detail });
  }
  const filed = changes.filter(({ action }) => action === 'piece.filed' || action === 'piece.revised').length;
  if (actor.who !== 'cli' && actor.who !== 'folder' && changes.length > 0)
    activity.count(actor.who, { filed, refused: 0, at: now });
}

/** How many refused filings of a key are listed per hour. The rest are only counted, so that no loop fills the disk. */
const REFUSED_HOURLY = 60;
/** Maximum number of problems listed for a refusal. */
const PROBLEMS_LISTED = 20;
/** Maximum lengths of a listed field or rule, and of a title or slug, in UTF-16 units. */
const FIELD_MAX = 120;
const TITLE_MAX = 300;

/** Records a filing that the door refused: the fields and the rules they broke, never the values. */
export function recordRefusal(
  { activity }: ActivityStore,
  { paper, now, newId }: Recording,
  actor: Actor,
  { action, subject, problems }: { action: Action; subject: Subject; problems: readonly Problem[] },
): void {
  const inHour = activity.count(actor.who, { filed: 0, refused: 1, at: now });
  if (inHour > REFUSED_HOURLY) return;
  const detail = {
    problems: problems
      .slice(0, PROBLEMS_LISTED)
      .map(({ field, rule }) => ({ field: field.slice(0, FIELD_MAX), rule: rule.slice(0, FIELD_MAX) })),
    problems_total: problems.length,
    // The last listed refusal of an hour says that later ones are only counted, in the key's row.
    ...(inHour === REFUSED_HOURLY ? { more_are_counted: true } : {}),
  };
  const { kind, id, slug, title } = subject;
  const shown = { kind, id, slug: storable(slug), title: storable(title) };
  activity.add({ id: newId(), paper, at: now, ...actor, action, refused: true, subject: shown, detail });
}

/** A caller's text, normalized as in a filing and cut to a length that fits. */
function storable(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const plain = text
    .slice(0, 2 * TITLE_MAX)
    .replaceAll('\0', '')
    .toWellFormed();
  return normalized(plain).trim().slice(0, TITLE_MAX).toWellFormed();
}

/** An activity row in wire format. */
export function activityRow({ id, at, who, key, action, refused, subject, way, network, detail }: ActivityRow) {
  return {
    id,
    at: isoTime(at),
    who: { id: who, name: key?.name ?? null, level: key?.level ?? null, seat: key?.seat ?? null },
    action,
    outcome: refused ? ('refused' as const) : ('done' as const),
    subject:
      subject === null
        ? null
        : { ...subject, slug: subject.slug ?? null, title: subject.title ?? null, state: subject.state },
    from: { way, network },
    detail,
  };
}

/** A piece as the subject of a change. */
export const pieceSubject = ({ id }: Pick<Story, 'id'>): Subject => ({ kind: 'piece', id });

/** The change that describes an airing: on air now, or scheduled. */
export function airingChange(story: Pick<Story, 'id' | 'state' | 'scheduled_at'>): Change {
  const subject = pieceSubject(story);
  if (story.state !== 'scheduled') return { action: 'piece.aired', subject };
  return { action: 'piece.scheduled', subject, detail: { at: isoTime(story.scheduled_at ?? 0) } };
}

/** The change that describes a withdrawal. `wasOnAir` is false when only a schedule was cancelled. */
export function withdrawalChange(story: Pick<Story, 'id' | 'headline_withheld'>, reason: string): Change {
  const withheld = story.headline_withheld ? { headline_withheld: true } : {};
  return { action: 'piece.withdrawn', subject: pieceSubject(story), detail: { reason, ...withheld } };
}

/** The change that describes a decision on a revision. */
export function reviewChange(
  story: Pick<Story, 'id' | 'revision' | 'change_request'>,
  { decision }: { decision: string },
): Change {
  const asked = story.change_request?.note ?? null;
  const detail = { revision: story.revision, decision, ...(asked === null ? {} : { note: asked }) };
  return { action: 'piece.reviewed', subject: pieceSubject(story), detail };
}

/** The change that describes a new version of a fact. */
export function factChange({
  claim_key,
  version,
  status,
}: Pick<FactVersion, 'claim_key' | 'version' | 'status'>): Change {
  return {
    action: 'fact.corrected',
    subject: { kind: 'fact', id: claim_key, title: claim_key },
    detail: { version, status },
  };
}

/** The change from one placement of the front to another; empty when they are the same. */
export function frontChanges(before: Placement, after: Placement): Change[] {
  if (before.revision === after.revision) return [];
  const pieces = ({ lead, pins }: Placement) => ({ lead: lead?.piece ?? null, pins: pins.map(({ piece }) => piece) });
  return [{ action: 'front.placed', detail: { before: pieces(before), after: pieces(after) } }];
}

/** The change that describes an action on a webhook. It names only the host: the rest of a URL may be secret. */
export function webhookChange(
  verb: 'added' | 'changed' | 'secret' | 'tested' | 'removed',
  { id, url }: { id: string; url: string },
  detail: Record<string, unknown> = {},
): Change {
  return { action: `webhook.${verb}`, subject: { kind: 'webhook', id, title: hostOf(url) }, detail };
}

const OF_RECORD = {
  paper: ['config.changed', null],
  persona: ['persona.changed', 'persona'],
  cast: ['cast.published', 'cast'],
  page: ['page.put', 'page'],
  media: ['media.uploaded', 'media'],
} as const;

type Body = Record<string, unknown> | null;

/** The change that describes a new record; null for kinds that have changes of their own. */
export function recordChange(kind: RecordKind, name: string, before: unknown, body: unknown): Change | null {
  if (!(kind in OF_RECORD)) return null;
  const [action, subject] = OF_RECORD[kind as keyof typeof OF_RECORD];
  const [old, next] = [before as Body, body as Body];
  const about = next ?? old ?? {};
  const title = [about.name, about.title].find((text) => typeof text === 'string');
  const given = subject === null ? {} : { subject: { kind: subject, id: name, title } };
  if (next === null) return { action: kind === 'page' ? 'page.removed' : 'media.removed', ...given };
  if (kind === 'media') return { action, ...given, detail: { media_type: next.media_type, bytes: next.bytes } };
  return {
    action,
    ...given,
    detail: { changed: changedMembers(old ?? {}, next), ...(old === null ? { new: true } : {}) },
  };
}

/** The names of the members that differ. */
function changedMembers(before: Record<string, unknown>, after: Record<string, unknown>): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name])).sort();
}

/** The change that describes a key or a seat being made, revoked, paused or resumed. */
export function keyChange(
  verb: 'made' | 'revoked' | 'paused' | 'resumed',
  { id, name, level, seat }: Pick<AccessKey, 'id' | 'name' | 'level' | 'seat'>,
): Change {
  const isSeat = seat !== null && (verb === 'made' || verb === 'revoked');
  const action: Action = isSeat ? `seat.${verb}` : `key.${verb}`;
  return { action, subject: { kind: 'key', id, title: name }, detail: { level } };
}
