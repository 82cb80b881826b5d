// The checks are large, and few readers ask for them: they are fetched when one does.
const button = document.getElementById('verify');
const output = document.getElementById('verdict');

async function open() {
  button.removeEventListener('click', open);
  output.textContent = 'Fetching the checks…';
  try {
    await import(/* @vite-ignore */ button.dataset.checks);
  } catch {
    output.textContent =
      'Nothing was checked: the program that checks could not be fetched. That says nothing about the record. Reload the page and try again.';
    button.addEventListener('click', open);
  }
}

button.addEventListener('click', open);
button.disabled = false;
