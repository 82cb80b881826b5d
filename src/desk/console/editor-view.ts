import type { StateName } from '../archive.ts';
import type { EditorFields, EditorProblem } from './editor-fields.ts';
import type { FieldDifference } from './versions.ts';

/** What the page of the editor shows. */
export interface EditorView {
  /** The piece as it is filed; null for a new one. */
  piece: { id: string; headline: string; state: StateName; revision: number } | null;
  fields: EditorFields;
  /** The revision that the fields were made from; 0 for a new piece. */
  revision: number;
  choices: { sections: readonly string[]; personas: { slug: string; name: string }[]; kinds: readonly string[] };
  zones: readonly string[];
  /** What the door says of the fields; null before anybody asked. */
  checked: EditorCheck | null;
  conflict: EditorConflict | null;
  /** Whether the fields are those of a form that was sent: an older draft in the browser is then not shown. */
  is_sent: boolean;
  /** The paper's and the piece's name in the browser's memory of drafts. */
  draft: string;
  /** What the policy of the page allows the styles of the text field by. */
  nonce: string;
}

/** What the door says of a text, as the page and as JSON. */
export interface EditorCheck {
  problems: EditorProblem[];
  /** Facts of the record that sources without a key nearly repeat. They keep nothing from being filed. */
  hints: EditorProblem[];
  /** The page as its readers would see it. */
  html: string;
  /** When the piece would go on air, in UTC; null unless a time was chosen. */
  air_at: string | null;
}

/** Two editors revised one version. */
export interface EditorConflict {
  /** The newest revision, and when it was filed. */
  revision: number;
  filed_at: string;
  differences: FieldDifference[];
}

/** What filing came to, as JSON for the page's own script. */
export type EditorFiled =
  | { filed: true; said: string; location: string; edit: string; revision: number; state: StateName; draft: string }
  | { filed: false; message: string; problems: EditorProblem[]; is_conflict: boolean };

/** What uploading a picture came to. */
export type EditorPicture = { path: string; alt: string } | { message: string; field: string | null };
