/** Adds a copy button at the end of each block with text to copy. */
const { copy, copied } = document.getElementById('copying').dataset;

/** How long a button shows that it has copied, in ms. */
const SAID = 3_000;

for (const block of document.querySelectorAll('main pre:not([data-own]), [data-copy]')) {
  const button = document.createElement('button');
  const state = document.createElement('span');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = copy;
  state.className = 'unseen';
  state.setAttribute('role', 'status');
  let timer = 0;
  button.addEventListener('click', async () => {
    clearTimeout(timer);
    try {
      await navigator.clipboard.writeText(block.textContent.trim());
    } catch {
      // Outside a secure context there is no clipboard: select the text, to be copied by hand.
      getSelection().selectAllChildren(block);
      return;
    }
    button.textContent = copied;
    state.textContent = copied;
    timer = setTimeout(() => {
      button.textContent = copy;
      state.textContent = '';
    }, SAID);
  });
  const frame = document.createElement('div');
  frame.className = 'copied';
  block.replaceWith(frame);
  frame.append(block, button, state);
}
