/** Browsers have no ML-DSA-44 yet: witnesses that sign with such keys are reported as unchecked. */
export const mldsa44 = null;
