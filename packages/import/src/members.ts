/** The members of a JSON object; empty for anything else. */
export function membersIn(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
