/** A field of a form, with what it is for. */
export interface FormField {
  name: string;
  label: string;
  hint?: string;
  value: string;
  /** `hue` and `typefaces` are shown as they look. */
  kind: 'line' | 'text' | 'number' | 'choice' | 'hue' | 'typefaces';
  /** Of a choice. */
  choices?: readonly (readonly [value: string, label: string])[];
  /** Suggestions for a line. */
  options?: readonly string[];
  isRequired?: boolean;
  /** In characters; of a number, its greatest value. */
  max?: number;
  min?: number;
  rows?: number;
}

/** A member before and after a change, in a line. */
export interface Changed {
  label: string;
  before: string;
  after: string;
}

/** A value as a line of a list of changes. */
export const inBrief = (text: string): string =>
  text === '' ? 'nothing' : text.length > 120 ? `${text.slice(0, 119)}…` : text.replaceAll('\n', ' ');
