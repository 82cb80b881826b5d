import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Frame, Page } from 'playwright-core';

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** The tags of WCAG 2.2 at level AA. They include `target-size`, which axe does not run by itself. */
const AA = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa', 'best-practice'];

/**
 * What axe finds wrong on a page, or in a part of it, each with the first element. A page is given axe once, as are its
 * frames.
 */
export function axeFaults(page: Page, part?: string): Promise<string[]> {
  return faultsOf(page, {}, part);
}

/**
 * What axe finds wrong on a page by WCAG 2.2 AA, target sizes included, each with the first element. To reckon contrasts
 * takes twice as long as all other rules together: where a page has the colours of another one, it may be left out.
 */
export function axeFaultsAA(page: Page, hasContrast = true): Promise<string[]> {
  return faultsOf(page, { runOnly: AA, rules: { 'color-contrast': { enabled: hasContrast } } });
}

async function faultsOf(page: Page, options: RunOptions, part?: string): Promise<string[]> {
  const give = async (frame: Frame) => {
    if (!(await frame.evaluate(() => 'axe' in globalThis))) await frame.evaluate(AXE);
  };
  await give(page.mainFrame());
  // One that is leaving its page just now, axe looks at without.
  await Promise.all(page.frames().map((frame) => give(frame).catch(() => {})));
  return page.evaluate(
    async ([where, how]) => {
      const { axe } = globalThis as unknown as { axe: { run(where: unknown, how: RunOptions): Promise<AxeResults> } };
      const { violations } = await axe.run(where ?? document, how);
      return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
    },
    [part, { ...options, resultTypes: ['violations'] } as RunOptions] as const,
  );
}
