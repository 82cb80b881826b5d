import type { RecordsFrame } from './views.ts';

/** What the pages of reading and verifying are given, as views.ts has it for the others. */

/** The routes of these pages, and what each one is given. */
export interface ReadingPages {
  '/records/verify': VerifyView;
}

export interface VerifyView {
  frame: RecordsFrame;
}
