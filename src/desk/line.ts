import * as z from 'zod';
import { normalized } from '../shared/combining-marks.ts';
import { isLine } from '../shared/shown-text.ts';

/** A single-line text, trimmed and in NFC, of at most `max` UTF-16 units. `kind` is the message for other types. */
export function line(max: number, kind = 'must be a text') {
  return z
    .string({ error: ({ code }) => (code === 'invalid_type' ? kind : undefined) })
    .max(max)
    .refine(isLine, 'must be one line without control characters')
    .transform((text) => normalized(text).trim());
}

/** Like `line`, but not empty. */
export function filledLine(max: number, kind?: string) {
  return line(max, kind).refine((text) => text !== '', 'must not be empty');
}
