/**
 * Why a test is skipped on a push: it kills processes again and again, compares whole trees, or waits for failures to
 * pass. `.ci/wide` sets WIDE, and runs it.
 */
export const ONLY_WIDE: string | false = process.env.WIDE === undefined && 'runs in .ci/wide';
