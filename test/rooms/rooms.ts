/**
 * What each room of the code may import: other rooms, single files, and packages that not everybody may use.
 * A room may always import itself and what `SHARED` names. `types X` allows type imports alone.
 */
export interface Room {
  /** What the room holds, and so the reason for its list. */
  holds: string;
  imports: readonly string[];
}

/** Small rules of the whole program, which need nothing but each other. */
export const SHARED = [
  'src/fault.ts',
  'src/access-key.ts',
  'src/key-life.ts',
  'src/limits.ts',
  'src/plural.ts',
  'src/public-address.ts',
  'src/time.ts',
  'src/narrow.ts',
];

/** Packages that stand for a technology, and are used in one place. Any other package may be used anywhere outside the pages. */
export const PACKAGES: Record<string, readonly string[]> = {
  hono: ['api'],
  '@hono': ['api'],
  libsql: ['src/store'],
  'node:sqlite': ['src/store'],
  astro: ['src/astro', 'src/pages', 'src/layouts', 'src/parts', 'src/render.ts'],
  '@astrojs': ['src/astro'],
  nodemailer: ['src/net', 'src/files/outbox.ts'],
  pino: ['src/app', 'api'],
  croner: ['src/app'],
  'fast-check': [],
};

const RULES = [
  'src/ledger',
  'src/transparency',
  'src/desk',
  'src/press',
  'src/readers',
  'src/records',
  'src/meter',
  'src/accounts',
];

export const ROOMS: Record<string, Room> = {
  'src/ledger': { holds: 'rules of what is signed', imports: [] },
  'src/transparency': { holds: 'rules of the logs that both services keep', imports: ['src/ledger'] },
  'src/desk': { holds: 'rules of a paper', imports: ['src/ledger'] },
  'src/press': { holds: 'rules of what is pressed', imports: ['src/ledger', 'src/desk', 'types src/files'] },
  'src/outbound': { holds: 'one engine for mail and one for webhooks, of both services', imports: [] },
  'src/readers': { holds: 'rules of alerts to readers', imports: ['src/ledger', 'src/desk', 'src/outbound'] },
  'src/records': { holds: 'rules of the domain records', imports: ['src/ledger', 'types src/net'] },
  'src/meter': { holds: 'rules of allowance and payment', imports: [] },
  'src/accounts': {
    holds: 'rules of accounts; their pages stand in the frame of the records',
    imports: ['src/meter', 'src/outbound', 'types src/records/views.ts'],
  },
  'src/store': {
    holds: 'SQL: parsed rows come out, and nothing else',
    imports: [...RULES, 'src/outbound', 'src/files'],
  },
  'src/files': {
    holds: 'what is on disk',
    imports: ['src/ledger', 'src/desk', 'types src/outbound'],
  },
  'src/net': {
    holds: 'what talks to the network',
    imports: ['src/desk', 'src/outbound', 'src/records', 'src/meter', 'types src/env.ts', 'src/project.ts'],
  },
  'src/ingest': {
    holds: 'folders, archives and ledger exports on their way into the ledger',
    imports: ['src/ledger', 'src/desk', 'src/press', 'src/files', 'src/audit/generation-audit.ts'],
  },
  'src/audit': {
    holds: 'what checks the database, the trees and the log against themselves',
    imports: ['src/ledger', 'src/desk', 'src/press', 'src/records', 'src/files', 'types src/store'],
  },
  'src/terminal': { holds: 'how a command speaks with the terminal and the shell that started it', imports: [] },
  'src/app': {
    holds: 'the wiring of all the above',
    imports: [
      ...RULES,
      'src/outbound',
      'src/store',
      'src/files',
      'src/net',
      'src/ingest',
      'src/audit',
      'src/terminal',
      'types src/env.ts',
      'types src/render.ts',
      'src/project.ts',
    ],
  },
  'src/astro': {
    holds: 'what Astro calls',
    imports: ['src/app', 'src/ingest', 'src/terminal', 'src/desk', 'src/press', 'src/env.ts', 'src/project.ts'],
  },
  'src/cmd': {
    holds: 'the command line',
    imports: [
      ...RULES,
      'src/outbound',
      'src/files',
      'src/net',
      'src/ingest',
      'src/audit',
      'src/app',
      'src/terminal',
      'src/env.ts',
      'src/project.ts',
      'api',
    ],
  },
  'api/responses': { holds: 'how both services answer', imports: ['src/press', 'types api'] },
  'api/middleware': {
    holds: 'what both services ask of a request',
    imports: [...RULES, 'src/app', 'api/responses', 'types api'],
  },
  'api/openapi': { holds: 'what both documents say', imports: ['api/responses'] },
  'api/desk': {
    holds: 'the routes of the papers',
    imports: [
      ...RULES,
      'src/outbound',
      'src/app',
      'src/files',
      'src/net',
      'src/project.ts',
      'api/responses',
      'api/middleware',
      'api/openapi',
      'types api',
    ],
  },
  'api/records': {
    holds: 'the URL map of the domain records, and what every route has in common',
    imports: [
      'src/app',
      'types src/meter',
      'types src/store',
      'api/responses',
      'types api/openapi',
      'api/middleware',
      'types api',
      'api/mcp',
      'api/records/v1',
      'api/records/pages',
      'api/records/lanes',
      'api/records/account',
      'api/records/stream',
      'api/records/operator',
      'api/records/openapi',
    ],
  },
  'api/records/lanes': {
    holds: 'how each lane lets a request in, meters it and charges for it',
    imports: [
      'types src/accounts',
      'src/meter',
      'types src/app',
      'types src/env.ts',
      'api/responses',
      'api/middleware',
      'types api',
      'api/records',
    ],
  },
  'api/records/v1': {
    holds: 'operations of the data API',
    imports: [
      ...RULES,
      'src/outbound',
      'src/app',
      'types src/store',
      'types src/env.ts',
      'api/responses',
      'api/middleware',
      'api/openapi',
      'api/records',
      'api/records/lanes',
    ],
  },
  'api/records/stream': {
    holds: 'changes as Server-Sent Events',
    imports: [
      'src/records',
      'src/app',
      'types src/store',
      'api/responses',
      'api/middleware',
      'api/openapi',
      'api/records',
      'api/records/v1',
    ],
  },
  'api/records/operator': {
    holds: 'operations for scanners and operators',
    imports: [
      'src/records',
      'src/app',
      'src/net',
      'src/store',
      'api/middleware',
      'api/openapi',
      'api/records',
      'api/records/v1',
    ],
  },
  'api/records/pages': {
    holds: 'what anyone reads: pages, feeds and badges',
    imports: [
      ...RULES,
      'types src/app',
      'types src/store',
      'types src/env.ts',
      'types src/render.ts',
      'src/project.ts',
      'api/responses',
      'api/middleware',
      'api/openapi',
      'api/records',
      'api/records/lanes',
      'api/records/v1',
    ],
  },
  'api/records/account': {
    holds: 'pages and forms of accounts',
    imports: [
      'src/accounts',
      'src/meter',
      'src/readers',
      'src/outbound',
      'src/app',
      'types src/env.ts',
      'types src/render.ts',
      'api/responses',
      'api/middleware',
      'types api',
      'api/records',
      'api/records/lanes',
      'types api/records/pages',
      'types api/records/v1',
    ],
  },
  'api/records/openapi': {
    holds: 'the OpenAPI document, the index and the playground',
    imports: [
      'types src/meter',
      'types src/env.ts',
      'src/project.ts',
      'api/responses',
      'api/openapi',
      'types api',
      'api/records',
      'api/records/v1',
      'api/records/pages',
    ],
  },
  'api/mcp': {
    holds: 'the tools of agents, which call the routes of the records',
    imports: [
      'src/records',
      'src/project.ts',
      'types src/env.ts',
      'api/middleware',
      'api/responses',
      'api/records',
      'api/records/v1',
    ],
  },
  api: {
    holds: 'the listeners',
    imports: [
      ...RULES,
      'src/app',
      'api/desk',
      'api/middleware',
      'api/responses',
      'api/records',
      'api/records/pages',
      'api/records/stream',
    ],
  },
  'src/pages': {
    holds: 'markup: everything comes from Astro.locals',
    imports: [
      'src/layouts',
      'src/parts',
      'src/parts/client',
      'types src/outbound/mail-content.ts',
      'types src/press/views.ts',
      'types src/records/views.ts',
      'types src/records/reading-views.ts',
      'types src/accounts/views.ts',
    ],
  },
  'src/layouts': {
    holds: 'markup',
    imports: ['src/parts', 'types src/press/views.ts', 'types src/records/views.ts', 'types src/accounts/views.ts'],
  },
  'src/parts': {
    holds: 'markup',
    imports: [
      'src/parts/client',
      'types src/outbound/mail-content.ts',
      'types src/press/views.ts',
      'types src/records/views.ts',
      'types src/records/reading-views.ts',
      'types src/accounts/views.ts',
    ],
  },
  'src/parts/client': {
    holds: 'what a reader’s browser runs: nothing that needs Node or the desk',
    imports: ['src/parts', 'src/ledger', 'src/press/prose-html.ts', 'src/records'],
  },
  'src/env.ts': {
    holds: 'the settings',
    imports: ['src/meter', 'src/records', 'src/files/log-policy.ts', 'src/ledger/log/checkpoint.ts'],
  },
  'src/project.ts': { holds: 'where the program is', imports: [] },
  'src/render.ts': {
    holds: 'the way from Node into Astro',
    imports: ['types src/accounts', 'types src/outbound', 'types src/press', 'types src/records', 'src/pages'],
  },
};
