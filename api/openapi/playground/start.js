// Shows the API's document and lets a reader send requests, to this page's own host only.
const described = document.querySelector('link[rel=service-desc]').href;
const home = document.querySelector('.plate .name a').href;
const place = document.querySelector('#api');

const dark = matchMedia('(prefers-color-scheme: dark)');
const shade = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', shade);
shade();

const answer = await fetch(described).catch(() => null);
if (answer?.ok) {
  const spec = await answer.json();
  // The address by which this page was reached: there may be others, and this page may ask its own host alone.
  spec.servers = [{ url: home.replace(/\/$/, '') }];
  window.SwaggerUIBundle({
    spec,
    domNode: place,
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    validatorUrl: null,
    syntaxHighlight: { theme: 'obsidian' },
    // A link inside the button that opens an operation could not be reached by keyboard. Opening sets the address too.
    plugins: [() => ({ components: { DeepLink: ({ text }) => text } })],
  });
} else {
  const main = place.appendChild(document.createElement('main'));
  main.textContent = `The document could not be fetched${answer === null ? '' : ` (${answer.status})`}. Load the page again in a moment.`;
}
