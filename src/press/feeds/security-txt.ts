import { contactUrl } from '../../desk/paper.ts';
import type { Channel } from './channel.ts';

/** RFC 9116 recommends an expiry less than a year away. */
const MONTHS_VALID = 12;

/**
 * security.txt (RFC 9116). It expires twelve months after the start of the month in which the paper last changed
 * (`changed_at`, in ms). The text therefore changes at most once a month and does not depend on when it was written.
 */
export function securityTxt({ paper, root }: Channel, changed_at: number): string {
  const changed = new Date(changed_at);
  const expires = new Date(Date.UTC(changed.getUTCFullYear(), changed.getUTCMonth() + MONTHS_VALID, 1));
  return [
    `Contact: ${contactUrl(paper) ?? `${root}/standards/`}`,
    `Expires: ${expires.toISOString().replace('.000', '')}`,
    `Preferred-Languages: ${paper.language}`,
    `Canonical: ${root}/.well-known/security.txt`,
    '',
  ].join('\n');
}
