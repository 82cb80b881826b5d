/** The longest time that a page computes without reacting to the reader, in ms. */
const LONGEST = 50;

/** Returns a function to await between the steps of a long computation, so that the page stays responsive. */
export function pacer(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < LONGEST) return;
    await new Promise((resume) => setTimeout(resume));
    since = performance.now();
  };
}
