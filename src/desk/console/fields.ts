/** A field of a form, with its explanation. */
export interface FormField {
  name: string;
  label: string;
  hint?: string;
  value: string;
  /** `hue` and `typefaces` are shown as samples. */
  kind: 'line' | 'text' | 'number' | 'choice' | 'hue' | 'typefaces';
  /** For a choice. */
  choices?: readonly (readonly [value: string, label: string])[];
  /** Suggestions for a line. */
  options?: readonly string[];
  isRequired?: boolean;
  /** Maximum length in characters; for a number, its maximum. */
  max?: number;
  min?: number;
  rows?: number;
}

/** A member before and after a change, each in one line. */
export interface Changed {
  label: string;
  before: string;
  after: string;
}

/** A value, shortened for one line of a list of changes. */
export const inBrief = (text: string): string =>
  text === '' ? 'nothing' : text.length > 120 ? `${text.slice(0, 119)}…` : text.replaceAll('\n', ' ');
