import type { Contract, Operation, Sending } from './contract.ts';

/** A GET of a path, sent verbatim. */
export function get(path: string): Sending {
  return { method: 'GET', path };
}

/** A request with a body, JSON unless the headers say otherwise. */
export function written(sent: Sending, body: string | Uint8Array, headers: Record<string, string>): Sending {
  return { ...sent, body, headers: { 'content-type': 'application/json', ...headers } };
}

/** A request with one parameter, and one that repeats it where possible. */
export function withParameter(
  operation: Operation,
  sent: Sending,
  { name, in: where }: { name: string; in: string },
  value: string,
): Sending[] {
  if (where === 'header') {
    // Headers are not percent-encoded: the valid part of the value is sent as it is.
    const plain = value.replace(/%../g, '~').slice(0, 2_000);
    return [{ ...sent, headers: { ...sent.headers, [name]: plain } }];
  }
  if (where === 'path') {
    const index = operation.path.split('/').indexOf(`{${name}}`);
    const [address = '', query] = sent.path.split('?');
    const path = address.split('/').with(index, value).join('/');
    return [{ ...sent, path: query === undefined ? path : `${path}?${query}` }];
  }
  const [address = '', query = ''] = sent.path.split('?');
  const others = query.split('&').filter((pair) => pair !== '' && !pair.startsWith(`${name}=`));
  const once = [...others, `${name}=${value}`];
  return [once, [...once, `${name}=1`]].map((pairs) => ({ ...sent, path: `${address}?${pairs.join('&')}` }));
}

/** Values that an operation's examples cannot contain. */
export interface State {
  parameters?: Record<string, string>;
  body?: object;
}

/** The request from a document's own examples. `state` has the values that depend on the current state. */
export function exampleRequest(contract: Contract, operation: Operation, state: State = {}): Sending {
  let sent: Sending = { method: operation.method, path: operation.path };
  for (const parameter of operation.parameters ?? []) {
    const value = state.parameters?.[parameter.name] ?? parameter.example ?? contract.at(parameter.schema).example;
    if (value === undefined && !parameter.required) continue;
    [sent] = withParameter(operation, sent, parameter, encodeURIComponent(String(value ?? 'none'))) as [Sending];
  }
  if (operation.requestBody === undefined) return sent;
  const [type, content] = Object.entries(operation.requestBody.content)[0] ?? [];
  const example = content?.example ?? (content && contract.shape(content.schema).example);
  if (example === undefined && state.body === undefined) return sent;
  const body = JSON.stringify({ ...(example as object), ...state.body });
  return { ...sent, body, headers: { ...sent.headers, 'content-type': type ?? '' } };
}
