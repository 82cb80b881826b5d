import { McpServer } from '@modelcontextprotocol/server';
import type { RecordsContext } from '../records/route.ts';
import type { Ask } from './call.ts';
import { callTool } from './call.ts';
import { TOOLS } from './tools.ts';

/** Every tool only reads the service's own records. */
const ANNOTATIONS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

export interface Identity {
  name: string;
  title: string;
  version: string;
  websiteUrl: string;
}

/** The server of one request; it keeps no state between requests. */
export function mcpServer(identity: Identity, instructions: string, { c, ask }: { c: RecordsContext; ask: Ask }) {
  const server = new McpServer(identity, { instructions, capabilities: { tools: { listChanged: false } } });
  for (const tool of TOOLS) {
    server.registerTool(
      tool.name,
      {
        title: tool.title,
        description: tool.description,
        inputSchema: tool.input,
        outputSchema: tool.output,
        annotations: { title: tool.title, ...ANNOTATIONS },
      },
      (given, { mcpReq }) => callTool(tool, given, { c, ask, meta: mcpReq._meta }),
    );
  }
  return server;
}
