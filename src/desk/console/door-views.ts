import type { Typefaces } from '../papers/typefaces.ts';

/** The views of the console's pages for visitors who are not signed in, by route. */
export interface DoorPages {
  '/console/sign-in': DoorView & {
    /** The problem with what was sent; `of` is its form, null for the page as a whole. */
    problem: { of: 'key' | 'email' | 'passkey' | null; text: string } | null;
    /** The mail address that was entered. */
    asked: string;
    /** Whether a link was requested. */
    sent: boolean;
    /** The page to open after signing in, below the paper's root. */
    to: string;
    has_passkeys: boolean;
  };
  '/console/enter': DoorView & { token: string; seat: string };
  '/console/first': DoorView & {
    token: string;
    given: { name: string; email: string };
    problem: { field: string; text: string } | null;
  };
  '/console/first-made': DoorView & {
    email: string;
    /** The new key, which is shown only once. */
    key: string;
    /** The token of the new session's forms. */
    form: string;
    has_passkeys: boolean;
  };
}

interface DoorView {
  frame: DoorFrame;
}

export interface DoorFrame {
  title: string;
  /** The URL of the console, with its slash. */
  root: string;
  /** A private paper and one that does not exist are both shown by slug, so that nobody can tell them apart. */
  paper: { nameplate: string; language: string; hue: number; typefaces: Typefaces; url: string | null };
}
