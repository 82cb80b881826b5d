/**
 * What each page of an account is given, as src/records/views.ts has it for the
 * public pages.
 */

/** The routes of the pages, and what each one is given. */
export type AccountPages = Record<never, never>;
