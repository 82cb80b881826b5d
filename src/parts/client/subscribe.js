const form = document.getElementById('order');
const status = document.getElementById('status');
const button = form.querySelector('button');
const words = JSON.parse(form.dataset.words);

function say(text) {
  status.textContent = text;
}

/** Shows a problem beside its field; false when the form has no such field. */
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

/**
 * The problem in words, without the field's name in front, because it is shown beside the field. The API's messages are
 * in English.
 */
function inWords({ field, message = words.silent }) {
  if (words.bad) return words.bad[field] ?? words.bad.other;
  const text = message.startsWith(`${field}: `) ? message.slice(field.length + 2) : message;
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** A form within a piece only asks for the address. */
const isShort = form.querySelector('[name="boxes"]') === null;

function order() {
  const data = new FormData(form);
  const email = data.get('email').trim();
  if (isShort) return { email };
  const sections = data.getAll('sections');
  const all = form.querySelectorAll('[name="sections"]').length;
  return {
    email,
    cadence: data.get('cadence'),
    // Without a list, the paper sends all sections, including future ones.
    ...(sections.length < all ? { sections } : {}),
    cast: data.has('cast'),
  };
}

/** The response, or null if there is no API at the address. */
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
  if (!isShort && form.querySelector('[name="sections"]:checked') === null)
    return void point('sections', words.no_section);
  button.disabled = true;
  say(words.sending);
  const answer = await send(order());
  button.disabled = false;
  if (answer === null) return say(words.silent);
  if (answer.ok) {
    say((words.bad ? null : answer.message) ?? words.sent);
    form.classList.add('sent');
    return;
  }
  const message = inWords(answer);
  say(point(answer.field, message) ? '' : message);
});
