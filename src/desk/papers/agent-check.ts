import * as z from 'zod';
import { type AccessKey, LEVELS } from './keys.ts';

/** What an agent may do once the agreement is signed. */
const WRITES = ['file', 'revise', 'air'] as const;

/** What a key learns about its permissions before it writes. */
export const AgentCheck = z
  .object({
    key: z.object({ active: z.literal(true), paused: z.boolean(), kind: z.enum(LEVELS), name: z.string() }),
    agent: z
      .object({
        avatar: z.url().nullable().meta({ description: 'Of the persona that the key is bound to.' }),
        capability: z.string(),
        permitted_actions: z.array(z.enum(['read', ...WRITES])),
        terms_signed: z.boolean(),
      })
      .optional()
      .meta({ description: 'Of an agent’s key.' }),
    work: z
      .object({
        filed: z.int().min(0).meta({ description: 'Pieces and revisions that it filed.' }),
        refused: z.int().min(0).meta({ description: 'Filings that the door refused to an agent’s key.' }),
      })
      .meta({ description: 'What the key has done.' }),
    search_help: z.string().meta({ description: 'Where to ask when nothing is found.' }),
    guide: z.url(),
    skill: z.url(),
    next_steps: z.array(z.string()),
  })
  .meta({ id: 'AgentCheck' });
export type AgentCheck = z.infer<typeof AgentCheck>;

/** What a key may do, and what its holder should do next. `root` is the paper's, `avatar` that of the key's persona. */
export function agentCheck(at: {
  key: AccessKey;
  work: AgentCheck['work'];
  signed: boolean;
  avatar: string | null;
  root: string;
  /** The address of the paper's contact, as a link. */
  contact: string | undefined;
}): AgentCheck {
  const { key, work, signed, avatar, root, contact } = at;
  const guide = `${root}/agents/`;
  return {
    key: { active: true, paused: key.paused_at !== null, kind: key.level, name: key.name },
    ...(key.level === 'agent'
      ? {
          agent: {
            avatar,
            capability: `files, revises and airs pieces as ${key.persona ?? 'any active persona'}, uploads media, and publishes video editions; withdraws nothing`,
            permitted_actions: signed ? ['read', ...WRITES] : ['read'],
            terms_signed: signed,
          },
        }
      : {}),
    work,
    search_help: contact ?? guide,
    guide,
    skill: `${guide}SKILL.md`,
    next_steps: nextSteps(key, signed, `${root}/api/v1`),
  };
}

function nextSteps({ level, paused_at }: AccessKey, signed: boolean, api: string): string[] {
  const read = `Read what the desk has: ${api}/stories for what is on air, ${api}/drafts for what is not.`;
  if (level === 'read') return [read, `See every route of your key: ${api}.`];
  if (paused_at !== null) {
    return ['This key is paused: an admin of the paper resumes it. Until then nothing can be written.', read];
  }
  if (level === 'agent' && !signed) {
    return [
      `Read the agreement: ${api}/agent/terms.`,
      `Have the paper’s operator sign it with an admin key: POST ${api}/agent/terms/accept. Until then nothing can be written.`,
      read,
    ];
  }
  return [
    `See the personas that may sign and the sections: ${api}/masthead, ${api}/sections.`,
    `File a draft: POST ${api}/stories with "air": false. An answer of 422 lists every problem.`,
    `Put it on air: POST ${api}/stories/{id}/airing.`,
    ...(level === 'admin' && !signed ? [`Agents of this paper wait for the agreement: ${api}/agent/terms.`] : []),
  ];
}
