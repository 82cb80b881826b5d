/**
 * Why a test is skipped on a push: it kills processes, lets several race, measures memory, compares whole trees, waits for
 * failures to pass or for other projects' programs, runs a guide from beginning to end, tries a rule on a second way, or is
 * one more case of a long table. `.ci/wide` sets WIDE, and runs it.
 */
export const ONLY_WIDE: string | false = process.env.WIDE === undefined && 'runs in .ci/wide';
