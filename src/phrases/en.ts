/**
 * The words that the press puts around the pieces, in English. This table is the model of the others: its groups follow
 * the places where the words stand, `{name}` is a placeholder, and a counted phrase has one text for each plural
 * category of the language. Phrases are plain text, never markup.
 */
export const en = {
  /** On every page: top and foot. */
  page: {
    skip: 'Skip to the text',
  },
} as const;
