/** Asserts a value that always exists, such as at an index in range. Throws when it is missing, which is a defect. */
export function present<T>(value: T | null | undefined): T {
  if (value === undefined || value === null) throw new TypeError('a required value is missing');
  return value;
}

/** Whether a value is in a list; narrows its type. */
export function isOneOf<T>(list: readonly T[], value: unknown): value is T {
  return (list as readonly unknown[]).includes(value);
}

/** The members of an object; empty for anything else. */
export function membersIn(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** The entries of an object whose keys are exactly those of its type. */
export function entriesOf<K extends string, V>(object: { readonly [Key in K]?: V }): [K, V][] {
  return Object.entries(object) as [K, V][];
}
