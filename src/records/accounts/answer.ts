import { createHmac, timingSafeEqual } from 'node:crypto';

/** The result of an action, shown on the next page, and how to undo it. */
export interface Answer {
  text: string;
  /** `warn` when the action failed, wholly or in part. */
  tone: 'good' | 'warn';
  /** The form that undoes the action: its path, its button's label and its fields. */
  undo: { action: string; label: string; fields: Record<string, string> } | null;
}

export function answer(text: string, undo: Answer['undo'] = null, tone: Answer['tone'] = 'good'): Answer {
  return { text, tone, undo };
}

/**
 * Encodes an answer as a query parameter of the address to which a form redirects. It is sealed with the session's own
 * token, so that a link from elsewhere cannot make a page report, or offer to undo, something that never happened.
 */
export function sealAnswer(token: string, said: Answer): string {
  const text = Buffer.from(JSON.stringify(said)).toString('base64url');
  return `${text}.${sealOf(token, text)}`;
}

/** Decodes a sealed parameter; null without one, or when another session sealed it. */
export function openAnswer(token: string, given: string | undefined): Answer | null {
  const [text = '', seal = ''] = (given ?? '').split('.');
  const [wanted, got] = [Buffer.from(sealOf(token, text)), Buffer.from(seal)];
  if (wanted.length !== got.length || !timingSafeEqual(wanted, got)) return null;
  return JSON.parse(Buffer.from(text, 'base64url').toString()) as Answer;
}

function sealOf(token: string, text: string): string {
  return createHmac('sha256', token).update('answer\n').update(text).digest('base64url');
}
