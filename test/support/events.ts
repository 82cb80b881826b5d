import { Agent, type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { until } from './program.ts';

export interface SentEvent {
  id?: string;
  event?: string;
  data: string;
}

/** A client of Server-Sent Events. */
export interface Reader {
  status: number;
  headers: IncomingHttpHeaders;
  /** Everything received so far. */
  text(): string;
  /** The events received so far. */
  events(): SentEvent[];
  /** Waits for a number of events. */
  atLeast(count: number): Promise<SentEvent[]>;
  /** Resolves when the server ends or aborts the response. */
  ended: Promise<void>;
  response: IncomingMessage;
  hangUp(): void;
}

/** Opens a stream. */
export function listenTo(url: string, path: string, headers: Record<string, string> = {}): Promise<Reader> {
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: false });
  return new Promise((resolve, reject) => {
    const sent: ClientRequest = request({ hostname, port, path, headers, agent }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      const ended = new Promise<void>((done) => response.once('close', () => done()));
      response.on('error', () => {});
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      const events = () => eventsIn(text);
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        text: () => text,
        events,
        atLeast: (count) => until(() => (events().length >= count ? events() : null)),
        ended,
        response,
        hangUp: () => sent.destroy(),
      });
    });
    sent.on('error', reject).end();
  });
}

/** The complete events in a text (HTML, "Server-sent events"). */
export function eventsIn(text: string): SentEvent[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .map((block) =>
      Object.fromEntries(
        block.split('\n').flatMap((line) => {
          const [, name = '', value = ''] = /^(\w+): ?(.*)$/.exec(line) ?? [];
          return name === '' ? [] : [[name, value]];
        }),
      ),
    )
    .filter((fields): fields is Record<string, string> & SentEvent => 'data' in fields);
}
