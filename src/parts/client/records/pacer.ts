/** How long a page may compute before it reacts to its reader again, in ms. */
const LONGEST = 50;

/** Returns a function to await between two steps of a long computation, so that the page reacts meanwhile. */
export function pacer(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < LONGEST) return;
    await new Promise((resume) => setTimeout(resume));
    since = performance.now();
  };
}
