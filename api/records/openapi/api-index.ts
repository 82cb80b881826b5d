import { z } from '@hono/zod-openapi';
import type { ServiceKey } from '../../../src/accounts/service-key.ts';
import { SERVICE_LEVELS } from '../../../src/accounts/service-key.ts';
import type { Access } from '../../../src/meter/lane.ts';
import { laneOf } from '../../../src/meter/lane.ts';
import { VERSION } from '../../../src/project.ts';
import type { Paths } from '../../openapi/document.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { ACCESS_WORDS, accessOf } from './lanes.ts';

const Index = z
  .object({
    service: z.string(),
    version: z.string(),
    docs: z.url(),
    playground: z.url(),
    openapi: z.url(),
    mcp: z.url(),
    llms: z.url(),
    skill: z.url(),
    sign_in_url: z.url(),
    keys_url: z.url(),
    endpoints: z
      .record(
        z.string(),
        z.object({
          method: z.string(),
          url: z.string().openapi({ description: 'A URL template (RFC 6570).' }),
          access: z.string().openapi({ description: 'Who has access, in words.' }),
          summary: z.string(),
        }),
      )
      .openapi({ description: 'By operation; with a key, those that its level opens.' }),
    key: z.object({ level: z.enum(SERVICE_LEVELS), name: z.string() }).optional(),
  })
  .openapi('Index');

export const indexSpec = {
  operationId: 'readIndex',
  tags: ['Public'],
  summary: 'Every operation, and who has access to it; with a key, every operation that it opens',
  responses: { 200: ok(Index, 'The index.'), ...faults() },
};

/** The index of everyone, or of a key. */
export function indexOf(root: string, paths: Paths, key: ServiceKey | null = null): z.infer<typeof Index> {
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, operation]) => key === null || isOpenTo(key, accessOf(operation)))
      .map(
        ([method, operation]) =>
          [
            operation.operationId,
            {
              method: method.toUpperCase(),
              url: root + path,
              access: ACCESS_WORDS[accessOf(operation)].words,
              summary: String(operation.summary ?? ''),
            },
          ] as const,
      ),
  );
  return {
    service: 'Domain records',
    version: VERSION,
    docs: `${root}/docs`,
    playground: `${root}/docs/playground`,
    openapi: `${root}/v1/openapi.json`,
    mcp: `${root}/mcp`,
    llms: `${root}/llms.txt`,
    skill: `${root}/SKILL.md`,
    sign_in_url: `${root}/account`,
    keys_url: `${root}/.well-known/records-keys.json`,
    endpoints: Object.fromEntries(operations),
    ...(key === null ? {} : { key: { level: key.level, name: key.name } }),
  };
}

function isOpenTo({ level }: ServiceKey, access: Access): boolean {
  return 'lane' in laneOf({ key: level, payment: false }, access);
}
