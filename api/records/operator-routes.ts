/** Opens to a scanner's key and to an operator's; both are never metered. */
export const SCANNER: Record<string, string[]>[] = [{ serviceKey: ['scanner'] }];
/** Opens to an operator's key alone. */
export const OPERATOR: Record<string, string[]>[] = [{ serviceKey: ['operator'] }];
