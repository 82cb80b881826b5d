/** A response other than 2xx, thrown by functions that cannot return it: the iterators of pages and changes. */
export class ApiError extends Error {
  readonly status: number;
  /** The code of the fault, such as `rate_limited`; null when the response has none. */
  readonly code: string | null;
  /** The members of the response's body. */
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, body: unknown) {
    const members = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
    const { error, message } = members;
    super(typeof message === 'string' ? message : `the server responded with ${status}`);
    this.name = 'ApiError';
    this.status = status;
    this.code = typeof error === 'string' ? error : null;
    this.body = members;
  }
}
