import type { StateName } from '../archive.ts';
import type { EditorFields, EditorProblem } from './editor-fields.ts';
import type { FieldDifference } from './versions.ts';

/** The content of the editor page. */
export interface EditorView {
  /** The filed piece; null for a new one. */
  piece: { id: string; headline: string; state: StateName; revision: number } | null;
  fields: EditorFields;
  /** The revision from which the fields were made; 0 for a new piece. */
  revision: number;
  choices: { sections: readonly string[]; personas: { slug: string; name: string }[]; kinds: readonly string[] };
  zones: readonly string[];
  /** The door's result for the fields; null before a check was requested. */
  checked: EditorCheck | null;
  conflict: EditorConflict | null;
  /** Whether the fields come from a submitted form. An older draft in the browser is then not shown. */
  is_sent: boolean;
  /** The names of the paper and the piece in the browser's storage of drafts. */
  draft: string;
  /** The nonce of the Content-Security-Policy for the styles of the text field. */
  nonce: string;
}

/** The door's result for a text, for the page and as JSON. */
export interface EditorCheck {
  problems: EditorProblem[];
  /** Recorded facts that sources without a key nearly repeat. They never block a filing. */
  hints: EditorProblem[];
  /** The page as readers would see it. */
  html: string;
  /** When the piece would go on air, in UTC; null unless a time was chosen. */
  air_at: string | null;
}

/** A conflict: two editors revised the same version. */
export interface EditorConflict {
  /** The newest revision, and when it was filed. */
  revision: number;
  filed_at: string;
  differences: FieldDifference[];
}

/** The result of filing, as JSON for the page's script. */
export type EditorFiled =
  | { filed: true; said: string; location: string; edit: string; revision: number; state: StateName; draft: string }
  | { filed: false; message: string; problems: EditorProblem[]; is_conflict: boolean };

/** The result of uploading a picture. */
export type EditorPicture = { path: string; alt: string } | { message: string; field: string | null };
