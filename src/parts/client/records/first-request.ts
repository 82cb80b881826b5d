/** How often the page checks for the first request, in ms, and for how long. */
const EVERY = 4_000;
const FOR = 15 * 60_000;
/**
 * Steps whose state comes from the server. The first step is left alone, because it may show a key that no other page
 * has.
 */
const STEPS = ['step-send', 'step-seen'];

/** Fetches the account's page regularly until the first request has arrived, and shows the new state of the steps. */
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

/** Updates the steps. True when nothing is awaited any more, or this browser is signed out. */
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
