import * as z from 'zod';
import { isLine } from '../ledger/door.ts';
import { normalized } from '../ledger/marks.ts';

const line = (max: number) =>
  z
    .string()
    .max(max)
    .refine(isLine, 'must be one line without control characters')
    .transform((text) => normalized(text).trim());

/** A persona's record: `masthead/<slug>.yaml`, or the body of `PUT /api/v1/masthead/{slug}`. */
export const PersonaBody = z.strictObject({
  name: line(80).refine((text) => text !== '', 'must not be empty'),
  title: line(120),
  beat: line(300).default(''),
  bio: z.string().max(2_000).default(''),
  /** Path of a portrait under the paper's media, or null. */
  avatar: z
    .string()
    .nullish()
    .transform((path) => path ?? null),
  active: z.boolean().default(true),
});
export type PersonaBody = z.infer<typeof PersonaBody>;

/**
 * Where the drawn portrait of a persona without a picture of its own lies under the
 * paper's root. The address stays whatever the portrait shows: others link to it.
 */
export function portraitPath(slug: string): string {
  return `portraits/${slug}.png`;
}

/** A declared AI persona. That it is declared is not a setting. */
export interface Persona extends PersonaBody {
  slug: string;
}
