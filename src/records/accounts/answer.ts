import { createHmac, timingSafeEqual } from 'node:crypto';

/** What an action did, said on the next page, and how to undo it. */
export interface Answer {
  text: string;
  /** `warn` for what could not be done, or in part. */
  tone: 'good' | 'warn';
  /** The form that undoes it: its path, the words of its button, and its fields. */
  undo: { action: string; label: string; fields: Record<string, string> } | null;
}

export function answer(text: string, undo: Answer['undo'] = null, tone: Answer['tone'] = 'good'): Answer {
  return { text, tone, undo };
}

/**
 * An answer as a parameter of the address to which a form redirects. The session's own token seals it: a link from
 * elsewhere cannot make a page say, or offer to undo, what never happened.
 */
export function sealAnswer(token: string, said: Answer): string {
  const text = Buffer.from(JSON.stringify(said)).toString('base64url');
  return `${text}.${sealOf(token, text)}`;
}

/** The answer of a sealed parameter; null without one, or with one of another session. */
export function openAnswer(token: string, given: string | undefined): Answer | null {
  const [text = '', seal = ''] = (given ?? '').split('.');
  const [wanted, got] = [Buffer.from(sealOf(token, text)), Buffer.from(seal)];
  if (wanted.length !== got.length || !timingSafeEqual(wanted, got)) return null;
  return JSON.parse(Buffer.from(text, 'base64url').toString()) as Answer;
}

function sealOf(token: string, text: string): string {
  return createHmac('sha256', token).update('answer\n').update(text).digest('base64url');
}
