import { McpServer } from '@modelcontextprotocol/server';
import type { RecordsContext } from '../records/route.ts';
import type { Ask } from './call.ts';
import { callTool } from './call.ts';
import { TOOLS } from './tools.ts';

/** Every tool reads, and reading again changes nothing; what is read is the service's own records. */
const ANNOTATIONS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

export interface Identity {
  name: string;
  title: string;
  version: string;
  websiteUrl: string;
}

/** The server of one request: nothing is kept between two of them. */
export function mcpServer(identity: Identity, instructions: string, { c, ask }: { c: RecordsContext; ask: Ask }) {
  const server = new McpServer(identity, { instructions, capabilities: { tools: { listChanged: false } } });
  for (const told of TOOLS) {
    server.registerTool(
      told.name,
      {
        title: told.title,
        description: told.description,
        inputSchema: told.input,
        outputSchema: told.output,
        annotations: { title: told.title, ...ANNOTATIONS },
      },
      (given, { mcpReq }) => callTool(told, given, { c, ask, meta: mcpReq._meta }),
    );
  }
  return server;
}
