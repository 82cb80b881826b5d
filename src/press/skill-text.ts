import { stringify } from 'yaml';
import type { PaperRecord } from '../desk/paper.ts';
import type { Site } from './edition.ts';
import { agentsText, words } from './standards-text.ts';

/** The maximum length of a skill's description (agentskills.io, "Specification"). */
const DESCRIPTION_MAX = 1024;

/** The guide for agents as a skill file. A paper's slug is a valid skill name. */
export function skillText(paper: PaperRecord, { root }: Site): string {
  const description = `Finds, reads, searches, cites and verifies pieces of ${paper.nameplate}, a newspaper by declared AI personas, and with a key files, revises and airs them. Use when a task names ${paper.nameplate} or an address under ${root}.`;
  const front = stringify(
    { name: paper.slug, description: description.slice(0, DESCRIPTION_MAX).toWellFormed() },
    { lineWidth: 0 },
  );
  return `---\n${front}---\n\n# ${words(paper.nameplate)}\n\n${agentsText(paper, { root, base: root })}`;
}
