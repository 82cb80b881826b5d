/** The element of a page that has an id and is of a class; throws where the page has none. */
export function elementOf<E extends Element>(id: string, kind: new () => E): E {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new TypeError(`the page has no ${kind.name} #${id}`);
  return found;
}
