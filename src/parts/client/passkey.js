/**
 * Forms with `data-passkey` fetch a challenge from the address in that attribute, let the browser sign it with a
 * passkey, and send the result. The forms are hidden if scripts or passkeys are not available.
 */

const bytes = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
const text = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');

/** Options from JSON. `PublicKeyCredential.parseRequestOptionsFromJSON` is missing in older browsers with passkeys. */
function optionsFrom({ challenge, user, excludeCredentials, ...rest }) {
  return {
    ...rest,
    challenge: bytes(challenge),
    ...(user && { user: { ...user, id: bytes(user.id) } }),
    ...(excludeCredentials && { excludeCredentials: excludeCredentials.map((one) => ({ ...one, id: bytes(one.id) })) }),
  };
}

/** The members of a credential that the server reads. */
function answerOf({ id, type, response }) {
  const members = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle'];
  const sent = members.flatMap((name) => (response[name] ? [[name, text(response[name])]] : []));
  return JSON.stringify({
    id,
    type,
    response: { ...Object.fromEntries(sent), transports: response.getTransports?.() ?? [] },
  });
}

const PROBLEMS = {
  NotAllowedError: 'No passkey was used: it was cancelled, took too long, or there is none for this site.',
  InvalidStateError: 'This device has a passkey of your seat already.',
  SecurityError: 'The browser refuses passkeys at this address. Open the console at its own address.',
  NotSupportedError: 'This device makes no passkeys that this server can read.',
};

async function answer(form) {
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (name !== 'credential') fields.append(name, value);
  const response = await fetch(form.dataset.passkey, {
    method: 'POST',
    body: fields,
    headers: { Accept: 'application/json' },
  });
  const asked = await response.json();
  if (!response.ok) throw new Error(`${asked.message.charAt(0).toUpperCase()}${asked.message.slice(1)}.`);
  const options = { publicKey: optionsFrom(asked) };
  const made = await (asked.rp ? navigator.credentials.create(options) : navigator.credentials.get(options));
  form.elements.credential.value = answerOf(made);
}

for (const form of window.PublicKeyCredential ? document.querySelectorAll('[data-passkey]') : []) {
  form.hidden = false;
  const problem = form.querySelector('[data-problem]');
  const button = form.querySelector('button');
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    problem.textContent = '';
    button.disabled = true;
    answer(form)
      .then(() => form.submit())
      .catch((error) => {
        problem.textContent = PROBLEMS[error.name] ?? error.message;
      })
      .finally(() => {
        button.disabled = false;
      });
  });
}
