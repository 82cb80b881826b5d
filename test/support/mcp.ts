import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientBefore } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportBefore } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

/** A tool's result, as clients of both generations return it. */
export interface Given {
  isError?: boolean;
  content: { type: string; text: string }[];
  structuredContent?: Record<string, unknown>;
  _meta?: Record<string, unknown>;
}

export interface McpUser {
  /** The server's instructions. */
  instructions: string | undefined;
  tools(): Promise<{ name: string; [member: string]: unknown }[]>;
  call(name: string, given?: object, meta?: object): Promise<Given>;
}

interface Scope {
  after(work: () => unknown): void;
}

const ME = { name: 'a test', version: '1.0.0' };

/** Clients of the stateless protocol, and of the one with a handshake. */
export const GENERATIONS = ['2026', '2025'] as const;

/** A connected client, which is closed when the test ends. */
export async function mcpUser(
  t: Scope,
  generation: (typeof GENERATIONS)[number],
  url: string,
  headers: Record<string, string> = {},
  path = '/mcp',
): Promise<McpUser> {
  const address = new URL(path, url);
  const requestInit = { headers };
  if (generation === '2025') {
    const client = new ClientBefore(ME);
    // Its types are stricter about absent members than its own classes.
    await client.connect(new TransportBefore(address, { requestInit }) as never);
    t.after(() => client.close());
    return {
      instructions: client.getInstructions(),
      tools: async () => (await client.listTools()).tools,
      call: async (name, given = {}, _meta = {}) =>
        (await client.callTool({ name, arguments: { ...given }, _meta: { ..._meta } })) as unknown as Given,
    };
  }
  const client = new Client(ME, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(address, { requestInit }));
  t.after(() => client.close());
  if (client.getNegotiatedProtocolVersion() !== '2026-07-28') throw new Error('the client fell back');
  return {
    instructions: client.getInstructions(),
    tools: async () => (await client.listTools()).tools,
    call: async (name, given = {}, _meta = {}) =>
      (await client.callTool({ name, arguments: { ...given }, _meta: { ..._meta } })) as unknown as Given,
  };
}
