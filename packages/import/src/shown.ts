/** A text for a message, in quotes, cut to a line. */
export const shown = (text: string): string => JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
