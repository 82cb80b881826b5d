/** Sends the form with the action `what`, and returns the JSON response. Throws for any other response. */
export async function send<Answer>(
  form: HTMLFormElement,
  what: string,
  { more = {}, signal }: { more?: Record<string, string | Blob>; signal?: AbortSignal } = {},
): Promise<Answer> {
  const body = new FormData(form);
  // The form's file is only sent by its own button.
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

/** Why a request failed, as a sentence. */
export function failure(error: unknown): string {
  const why = error instanceof TypeError ? 'the server cannot be reached' : error instanceof Error ? error.message : '';
  return `Not sent: ${why}. What you wrote stays here; try again.`;
}
