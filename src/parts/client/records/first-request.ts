/** How often the page asks whether the request has come, in ms, and for how long. */
const EVERY = 4_000;
const FOR = 15 * 60_000;
/** The steps whose state comes from the server; the first may show a key, which no other page has. */
const STEPS = ['step-send', 'step-seen'];

/** Asks for the account's page again while its first request is awaited, and shows the steps as they are there. */
export function watchArrival(steps: HTMLElement): void {
  if (steps.dataset.awaits === undefined) return;
  const began = Date.now();
  const look = async (): Promise<void> => {
    if (Date.now() - began > FOR) return;
    if (!document.hidden && (await hasArrived())) return;
    setTimeout(look, EVERY);
  };
  setTimeout(look, EVERY);
}

/** Takes over the state of the steps. True when nothing more is awaited, or this browser was signed out. */
async function hasArrived(): Promise<boolean> {
  const response = await fetch('/account?start=1').catch(() => null);
  if (response === null) return false;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const found = page.getElementById('start');
  if (found === null) return true;
  for (const id of STEPS) {
    const [here, there] = [document.getElementById(id), page.getElementById(id)];
    const [state, next] = [here, there].map((step) => step?.querySelector('.state') ?? null);
    if (here === null || there === null || state == null || next == null) continue;
    if (state.outerHTML !== next.outerHTML) state.replaceWith(next);
    here.className = there.className;
  }
  return found.dataset.awaits === undefined;
}
