/** A value that is there by construction, such as that of an index in range. Throws where it is not: a defect. */
export function present<T>(value: T | null | undefined): T {
  if (value === undefined || value === null) throw new TypeError('a value that must be there is missing');
  return value;
}

/** Whether a value is one of a list's, which then is its type. */
export function isOneOf<T>(list: readonly T[], value: unknown): value is T {
  return (list as readonly unknown[]).includes(value);
}

/** The members of an object; none of anything else. */
export function membersIn(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** The entries of an object that has no other keys than those of its type. */
export function entriesOf<K extends string, V>(object: { readonly [Key in K]?: V }): [K, V][] {
  return Object.entries(object) as [K, V][];
}
