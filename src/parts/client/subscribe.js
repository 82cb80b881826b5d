const form = document.getElementById('order');
const status = document.getElementById('status');
const button = form.querySelector('button');
const SILENT = 'The subscription desk does not answer just now. Nothing was sent; please try again later.';

function say(text) {
  status.textContent = text;
}

/** Shows a problem at its field; false when the form has no such field. */
function point(name, text) {
  const place = document.getElementById(`${name}-problem`);
  if (place === null) return false;
  place.textContent = text;
  const field = form.querySelector(`[name="${name}"]`);
  if (text !== '') {
    field.setAttribute('aria-invalid', 'true');
    field.focus();
  } else field.removeAttribute('aria-invalid');
  return true;
}

/** What went wrong, without the field's name in front: it stands beside the field. */
function inWords({ field, message = SILENT }) {
  const words = message.startsWith(`${field}: `) ? message.slice(field.length + 2) : message;
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

function order() {
  const data = new FormData(form);
  const sections = data.getAll('sections');
  const all = form.querySelectorAll('[name="sections"]').length;
  return {
    email: data.get('email').trim(),
    cadence: data.get('cadence'),
    // Without a list the paper means every section, those to come too.
    ...(sections.length < all ? { sections } : {}),
    cast: data.has('cast'),
  };
}

/** The answer, or null when no API stands behind the address. */
async function send(body) {
  try {
    const response = await fetch(form.action, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
      body: JSON.stringify(body),
    });
    if (response.status === 404 || response.status >= 500) return null;
    return { ok: response.ok, ...(await response.json()) };
  } catch {
    return null;
  }
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  say('');
  form.classList.remove('sent');
  for (const name of ['email', 'cadence', 'sections']) point(name, '');
  if (form.querySelector('[name="sections"]:checked') === null) return void point('sections', 'Tick one or more.');
  button.disabled = true;
  say('Sending…');
  const answer = await send(order());
  button.disabled = false;
  if (answer === null) return say(SILENT);
  if (answer.ok) {
    say(answer.message ?? 'Look into your mail and confirm.');
    form.classList.add('sent');
    return;
  }
  const message = inWords(answer);
  say(point(answer.field, message) ? '' : message);
});
