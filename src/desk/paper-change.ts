import type { Problem } from '../fault.ts';
import type { Archive } from './archive.ts';

/**
 * What a new list of sections would leave behind: a section with pieces on air
 * stays, or their pages would point at one that is gone. Empty when it may be.
 */
export function sectionProblems(archive: Archive, sections: readonly string[]): Problem[] {
  const dropped = archive.paper().sections.filter((name) => !sections.includes(name));
  return dropped.flatMap((name) => {
    const count = archive.sectionCount(name);
    if (count === 0) return [];
    const message = `${JSON.stringify(name)} still has pieces on air (${count}); keep it, or file them in another section first`;
    return [{ field: 'sections', rule: 'section_in_use', message }];
  });
}
