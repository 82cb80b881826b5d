import type { Typefaces } from '../papers/typefaces.ts';

/** The view of each page of a console that is open to those who are not signed in, by its route. */
export interface DoorPages {
  '/console/sign-in': DoorView & {
    /** What was wrong with what was sent, by its form; null for the page as a whole. */
    problem: { of: 'key' | 'email' | 'passkey' | null; text: string } | null;
    /** The address that was given. */
    asked: string;
    /** Whether a link was asked for. */
    sent: boolean;
    /** Where to go then, below the paper's root. */
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
    /** Shown this one time. */
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
  /** A private paper and one that does not exist are shown by their slugs, so that nobody can tell them apart. */
  paper: { nameplate: string; language: string; hue: number; typefaces: Typefaces; url: string | null };
}
