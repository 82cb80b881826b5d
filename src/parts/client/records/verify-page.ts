import { present } from '../../../proof/narrow.ts';
import { elementOf } from '../element.ts';
import { type Input, readInput } from './input.ts';
import { showVerdict } from './verdict.ts';

/** Runs the page on which readers verify documents of the service. Pasted text never leaves the browser. */

const form = elementOf('given', HTMLFormElement);
const output = elementOf('verdict', HTMLElement);
const input = (name: string) => present(form.querySelector<HTMLInputElement>(`[name="${name}"]`));
const file = input('file');

const field = (name: string): string => input(name).value;

let running = false;

async function run(given: Input): Promise<void> {
  if (running) return;
  running = true;
  await showVerdict(output, () => readInput(given));
  running = false;
  output.scrollIntoView({ block: 'nearest' });
}

async function runFile(chosen: File | undefined): Promise<void> {
  if (chosen !== undefined) await run({ text: await chosen.text(), from: '', keys: field('keys') });
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  void run({ text: field('text'), from: field('from'), keys: field('keys') });
});
file.addEventListener('change', async () => {
  await runFile(file.files?.[0]);
  // Allows choosing the same file again after it changed.
  file.value = '';
});
document.addEventListener('dragover', (event) => event.preventDefault());
document.addEventListener('drop', (event) => {
  event.preventDefault();
  void runFile(event.dataTransfer?.files[0]);
});

/** The samples in the page, by name. */
const samples = JSON.parse(document.getElementById('samples')?.textContent ?? '{}') as Record<string, string>;
for (const button of document.querySelectorAll<HTMLButtonElement>('[data-sample]')) {
  button.addEventListener('click', () => {
    const text = samples[button.dataset.sample ?? ''] ?? '';
    input('text').value = text;
    void run({ text, from: '', keys: field('keys') });
  });
  button.disabled = false;
}

// A link may prefill the address, but the reader must still start the check.
input('from').value = new URLSearchParams(location.search).get('from') ?? '';
// Until now the button is disabled, so that a form without its script sends nothing to the server.
present(form.querySelector<HTMLButtonElement>('[type="submit"]')).disabled = false;
