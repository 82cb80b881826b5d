import * as z from 'zod';
import { filledLine, line } from '../line.ts';

/** A persona's record: `masthead/<slug>.yaml`, or the body of `PUT /api/v1/masthead/{slug}`. */
export const PersonaBody = z.strictObject({
  name: filledLine(80),
  title: line(120),
  beat: line(300).default(''),
  bio: z.string().max(2_000).default(''),
  /** Path of a portrait among the paper's media, or null. */
  avatar: z
    .string()
    .nullish()
    .transform((path) => path ?? null),
  active: z.boolean().default(true),
});
export type PersonaBody = z.infer<typeof PersonaBody>;

/** Path of a persona's drawn portrait under the paper's root. It never changes, because others link to it. */
export function portraitPath(slug: string): string {
  return `portraits/${slug}.png`;
}

/** A declared AI persona. The declaration is not a setting. */
export interface Persona extends PersonaBody {
  slug: string;
}
