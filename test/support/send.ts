import { Agent, request } from 'node:http';
import type { Answer } from './http.ts';

export interface Sending {
  method?: string;
  path: string;
  headers?: Record<string, string | string[]>;
  /** Objects are sent as JSON, text and bytes as they are. */
  body?: object | string | Buffer;
}

/** Sends a request with a verbatim path on its own connection. */
export function send(url: string, { method = 'GET', path, headers = {}, body }: Sending): Promise<Answer> {
  const { hostname, port } = new URL(url);
  const isJson = body !== undefined && typeof body !== 'string' && !Buffer.isBuffer(body);
  const bytes = isJson ? JSON.stringify(body) : body;
  const type = isJson ? { 'content-type': 'application/json' } : {};
  const length = bytes === undefined ? {} : { 'content-length': String(Buffer.byteLength(bytes)) };
  const agent = new Agent({ keepAlive: false });
  return new Promise((resolve, reject) => {
    const sent = request(
      { hostname, port, path, method, agent, headers: { ...type, ...length, ...headers } },
      (response) => {
        const chunks: Buffer[] = [];
        const answered = () => {
          const whole = Buffer.concat(chunks);
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: whole, text: whole.toString() });
        };
        // Streams do not end: their first chunk counts as the response.
        const isStream = /^text\/event-stream/.test(String(response.headers['content-type']));
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          if (!isStream) return;
          answered();
          response.destroy();
        });
        response.on('error', reject);
        response.on('end', answered);
      },
    );
    sent.on('error', reject).end(bytes);
  });
}
