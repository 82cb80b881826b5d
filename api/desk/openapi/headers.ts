/** Response headers of the news desk, beside those of every service. */
export const HEADERS = {
  ETag: {
    description: 'The edition that the answer was made of. Sent on the public lane; an answer to a key has none.',
    schema: { type: 'string' },
    example: '"412-9f86d081"',
  },
} as const;
