/**
 * What each public page of the domain records is given: everything it shows,
 * ready to print. Pages hold markup only; they import these types and nothing
 * else. Every `url` is a path from the host's root unless its name says absolute.
 */

/** What every page of the domain records has around its own matter. */
export interface RecordsFrame {
  /** Public address of the service, without a slash at its end. */
  root_absolute: string;
  canonical_absolute: string;
  /** Text of `<title>`. */
  title: string;
  description: string;
  noindex: boolean;
  /** Whether the reader is signed in, by a mail address. */
  signed_in: string | null;
}

/** The routes of the pages, and what each one is given. */
export interface RecordsPages {
  '/records/fault': FaultView;
}

/** A refusal, for people. */
export interface FaultView {
  frame: RecordsFrame;
  heading: string;
  /** What was wrong, and what to do. */
  message: string;
  ways: { url: string; text: string }[];
}
