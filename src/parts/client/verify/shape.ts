/** What the members of an object are to be; an array's one shape is that of each item. */
export type Shape = { [name: string]: Kind | [Kind] };
type Kind = 'string' | 'number' | 'boolean' | 'object' | 'present' | Shape;

/** Whether a value is an object with at least these members. `present` takes anything, null too. */
export function has(value: unknown, shape: Shape): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(shape).every(([name, kind]) => {
    const member = (value as Record<string, unknown>)[name];
    if (Array.isArray(kind)) return Array.isArray(member) && member.every((item) => isOf(item, kind[0]));
    return isOf(member, kind);
  });
}

function isOf(value: unknown, kind: Kind): boolean {
  if (kind === 'present') return value !== undefined;
  if (kind === 'object') return typeof value === 'object' && value !== null;
  return typeof kind === 'string' ? typeof value === kind : has(value, kind);
}
