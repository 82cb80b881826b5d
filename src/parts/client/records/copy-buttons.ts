/** How long a button shows that it has copied, in ms. */
const SAID = 4_000;

/** Adds a button beside a block that copies its exact text. */
export function copyButtons(block: HTMLElement): void {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'plain copy';
  const name = `Copy ${block.dataset.copy ?? ''}`.trim();
  button.textContent = name;
  const state = document.createElement('span');
  state.className = 'unseen';
  state.setAttribute('role', 'status');
  let timer = 0;
  button.addEventListener('click', async () => {
    clearTimeout(timer);
    try {
      await navigator.clipboard.writeText(block.textContent?.trim() ?? '');
      button.textContent = 'Copied';
      state.textContent = 'Copied';
    } catch {
      // Outside a secure context there is no clipboard: select the text instead.
      getSelection()?.selectAllChildren(block);
      button.textContent = 'Selected: press Ctrl+C';
      state.textContent = 'Selected';
    }
    timer = window.setTimeout(() => {
      button.textContent = name;
      state.textContent = '';
    }, SAID);
  });
  (block.closest('pre, p') ?? block).after(button, state);
}
