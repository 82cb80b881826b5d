import { verify } from '../../../phrases/en-verify.ts';
import type { Phrases } from '../../../phrases/phrases.ts';

/** The words of the checks. A page in another language than English hands them over. */
export type Words = Phrases['verify'];
export const ENGLISH: Words = verify;
