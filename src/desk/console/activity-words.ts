import type { ActivityLine, ActivityView } from './views.ts';

/** The verb phrase for each action. The sentence begins with who did it. */
const DONE: Readonly<Record<string, string>> = {
  'piece.filed': 'filed',
  'piece.revised': 'revised',
  'piece.aired': 'put on air',
  'piece.scheduled': 'scheduled',
  'piece.withdrawn': 'withdrew',
  'piece.reviewed': 'reviewed',
  'pieces.imported': 'imported pieces',
  'fact.corrected': 'corrected the fact',
  'front.placed': 'placed the front',
  'config.changed': 'changed the settings',
  'persona.changed': 'changed the persona',
  'cast.published': 'published the edition of',
  'page.put': 'wrote the page',
  'page.removed': 'removed the page',
  'media.uploaded': 'uploaded',
  'media.removed': 'removed the file',
  'key.made': 'made the key',
  'key.revoked': 'revoked the key',
  'key.paused': 'paused the key',
  'key.resumed': 'resumed the key',
  'seat.made': 'gave a seat to',
  'seat.revoked': 'took the seat of',
  'session.begun': 'signed in',
  'session.ended': 'ended a session',
  'passkey.added': 'added a passkey',
  'passkey.removed': 'removed a passkey',
  'terms.accepted': 'signed the agreement for agents',
  'webhook.added': 'added the webhook',
  'webhook.changed': 'changed the webhook',
  'webhook.secret': 'made a new secret for the webhook',
  'webhook.tested': 'tested the webhook',
  'webhook.removed': 'removed the webhook',
  'delivery.retried': 'sent again to',
  'subscribers.invited': 'invited readers',
  'subscriber.erased': 'erased a reader',
  'subscriber.suppressed': 'barred a reader from mails',
  'host.given': 'gave the paper the host',
  'host.removed': 'took the host',
  'paper.removed': 'removed the paper',
  'paper.restored': 'restored the paper',
};

/** All actions, for a filter. */
export const ACTION_NAMES: readonly string[] = Object.keys(DONE);

const WAYS: Readonly<Record<string, string>> = { api: 'API', mcp: 'MCP', cli: 'command line' };
const WHO: Readonly<Record<string, string>> = { cli: 'The operator', folder: 'The folder' };

/** A row of the activity log in words. */
export function activityView(row: ActivityLine): ActivityView {
  const { at, who, action, outcome, subject, from, detail } = row;
  const isRefused = outcome === 'refused';
  const refused = `was refused ${action === 'piece.revised' ? 'a revision of' : 'the filing of'}`;
  const way = WAYS[from.way] ?? from.way;
  return {
    at,
    who: who.name ?? WHO[who.id] ?? who.id,
    did: isRefused ? refused : (DONE[action] ?? action),
    name: subject && (subject.title ?? subject.slug ?? subject.id),
    path: subjectPath(subject),
    detail: detailWords(detail),
    is_refused: isRefused,
    from: from.network === null ? way : `${way}, ${from.network}`,
  };
}

/** Further details in one line; empty if there are none. */
function detailWords({ problems, problems_total: total, ...detail }: ActivityLine['detail']): string {
  if (Array.isArray(problems)) {
    const more = Number(total) - problems.length;
    const named = problems.map(({ field, rule }) => `${field}: ${String(rule).replaceAll('_', ' ')}`);
    return `${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}`.slice(0, 500);
  }
  return Object.entries(detail)
    .map(([name, value]) => `${name.replaceAll('_', ' ')}: ${words(value)}`)
    .join('; ')
    .slice(0, 500);
}

function words(value: unknown): string {
  if (Array.isArray(value)) return value.map(words).join(', ');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.values(value).map(words).join(' ');
}

/** The console's page about a subject; null if there is none. */
function subjectPath(subject: ActivityLine['subject']): string | null {
  if (subject?.id == null) return null;
  const id = encodeURIComponent(subject.id);
  const paths: Record<string, string> = {
    piece: `pieces/${id}`,
    persona: `masthead/${id}`,
    cast: `cast/${id}`,
    page: `pages/${id}`,
    media: 'media',
    key: 'agents',
    webhook: 'webhooks',
    delivery: 'webhooks',
  };
  return paths[subject.kind] ?? null;
}
