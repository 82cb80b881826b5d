import { verify } from '../../../phrases/en-verify.ts';
import type { Phrases } from '../../../phrases/phrases.ts';

/** The phrases of the checks. Pages in other languages than English pass their own. */
export type Words = Phrases['verify'];
export const ENGLISH: Words = verify;
