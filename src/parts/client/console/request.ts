/** Sends the form as it is, with what to do with it, and returns the answer as JSON. Throws for what is none. */
export async function send<Answer>(
  form: HTMLFormElement,
  what: string,
  { more = {}, signal }: { more?: Record<string, string | Blob>; signal?: AbortSignal } = {},
): Promise<Answer> {
  const body = new FormData(form);
  // The file of the form is sent by its own button only.
  body.delete('picture');
  body.set('do', what);
  for (const [name, value] of Object.entries(more)) body.set(name, value);
  const response = await fetch(form.action, {
    method: 'POST',
    body,
    headers: { Accept: 'application/json' },
    ...(signal === undefined ? {} : { signal }),
  });
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  const answer = isJson ? await response.json() : null;
  if (isJson && (response.ok || 'problems' in answer || 'field' in answer)) return answer;
  throw new Error(answer?.message ?? `the server answered ${response.status}`);
}

/** Says why a request did not arrive, as a sentence. */
export function failure(error: unknown): string {
  const why = error instanceof TypeError ? 'the server cannot be reached' : error instanceof Error ? error.message : '';
  return `Not sent: ${why}. What you wrote stays here; try again.`;
}
