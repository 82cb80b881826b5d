/** Appends items to a list of any length: `list.push(...items)` throws a RangeError beyond some 120,000 arguments. */
export function pushAll<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item);
}
