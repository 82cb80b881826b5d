import { DAY } from '../../proof/time.ts';
import { secretHash } from '../../shared/access-key.ts';
import { Fault } from '../../shared/fault.ts';
import type { Story } from '../archive.ts';
import { refuseWithdrawn } from '../withdrawal.ts';
import type { AccessKey, KeyTable } from './keys.ts';

/** How long a link is valid, in ms. */
export const PREVIEW_LIFE = 7 * DAY;
/** Maximum number of valid links to a piece. A further one invalidates the oldest. */
export const PREVIEWS_MAX = 100;
/** Random bytes in a secret. */
const SECRET_BYTES = 32;
const SECRET = /^[\w-]{43}$/;

/** A link to the page of a piece that is not on air. Times in ms. */
interface PreviewLink {
  /** SHA-256 of the secret in its address, in hex. */
  hash: string;
  paper: string;
  piece: string;
  /** The id of the access key that requested it. The link ends with this key. */
  key: string;
  made_at: number;
  expires_at: number;
}

export interface PreviewTable {
  /** Stores a link, and deletes all but the newest `PREVIEWS_MAX` of its piece. */
  keep(link: PreviewLink): void;
  get(hash: string): PreviewLink | null;
  /** Deletes the links that have expired at `now`. */
  forget(now: number): void;
}

interface Previews {
  previews: PreviewTable;
  now: number;
}

/**
 * Makes a link to a piece's page. Throws `conflict` for a piece on air, and `withdrawn` for one that was taken off the
 * air and is not scheduled again, or whose headline is withheld.
 */
export function makePreviewLink(
  { previews, now }: Previews,
  paper: string,
  story: Story,
  { key, random }: { key: Pick<AccessKey, 'id'>; random(n: number): Uint8Array },
): { secret: string; expires_at: number } {
  if (story.state === 'on_air') {
    throw new Fault('conflict', `${story.slug} is on air; its page is for everyone, and needs no preview`);
  }
  refuseWithdrawn(story, 'preview');
  const secret = Buffer.from(random(SECRET_BYTES)).toString('base64url');
  const expires_at = now + PREVIEW_LIFE;
  previews.forget(now);
  previews.keep({ hash: secretHash(secret), paper, piece: story.id, key: key.id, made_at: now, expires_at });
  return { secret, expires_at };
}

/**
 * The link of a secret; null when it does not exist, has expired, or its key has been revoked or has expired. An
 * expired link is removed, so that setting the clock back does not revive it.
 */
export function findPreviewLink({ previews, now }: Previews, keys: KeyTable, secret: string): PreviewLink | null {
  const link = SECRET.test(secret) ? previews.get(secretHash(secret)) : null;
  if (link === null) return null;
  if (now >= link.expires_at) {
    previews.forget(now);
    return null;
  }
  const key = keys.byId(link.key);
  return key === null || key.revoked_at !== null || keys.hasExpired(key, now) ? null : link;
}

/** Whether a link still shows its piece: not once it has been on air since the link was made, nor when withdrawn. */
export function showsPreview({ made_at }: PreviewLink, { state, published_at, headline_withheld }: Story): boolean {
  return (
    !headline_withheld && (state === 'draft' || state === 'scheduled') && (published_at === 0 || published_at < made_at)
  );
}
