const form = document.getElementById('find');
const status = document.getElementById('status');
const found = document.getElementById('found');
const field = form.elements.q;
/** Follows what was found, so it is shown only once that is there: nothing moves. */
const ways = document.getElementById('ways');
const { api, language } = form.dataset;
/** The paper on this host: its own address may be another one. */
const root = api.slice(0, -'/api/v1/search'.length);
const words = JSON.parse(form.dataset.words);
const day = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' });

let asked = 0;

function say(text) {
  status.textContent = text;
}

function element(name, className, ...content) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...content);
  return made;
}

function link(href, text) {
  const made = element('a', '', text);
  made.href = href;
  return made;
}

/** Who stands for a piece: the persona, or who wrote what it brought in. */
function signature({ name }, written_by) {
  return written_by === null
    ? name
    : words.written.replace(/\{(\w+)\}/g, (_all, key) => (key === 'writer' ? written_by : name));
}

function row({ headline, dek, slug, published_at, category, byline, written_by }) {
  const when = element('time', '', day.format(new Date(published_at)));
  when.dateTime = published_at;
  return element(
    'article',
    'row bare',
    element(
      'div',
      'words',
      element('p', 'kicker', category),
      element('h2', '', link(`${root}/stories/${slug}/`, headline)),
      ...(dek ? [element('p', 'dek', dek)] : []),
      element('p', 'byline', signature(byline, written_by), ' ', element('span', 'ai', words.persona), ' ', when),
    ),
  );
}

function counted(count) {
  const text = words.found[new Intl.PluralRules(words.language).select(count)] ?? words.found.other;
  return text.replace('{count}', () => new Intl.NumberFormat(language).format(count));
}

/** Facts of the record, below the pieces. */
function factList(facts) {
  const items = facts.map(({ claim_key, statement, source }) => {
    const to = link(`${root}/facts/${claim_key}/`, statement);
    to.dir = 'auto';
    return element('li', '', to, element('p', 'origin', source));
  });
  return element('section', 'issue', element('h2', '', words.facts), element('ul', 'ways', ...items));
}

/** How many facts are shown. */
const FACTS_MAX = 5;

/** The longest that this page waits where too many search, in seconds. */
const WAIT_MAX = 10;

/** The answer's body, or null when no API stands behind the address. Asks once more where too many search. */
async function ask(url, isAgain = false) {
  try {
    const response = await fetch(url);
    const wait = Number(response.headers.get('Retry-After'));
    if (response.status === 503 && !isAgain && wait > 0 && wait <= WAIT_MAX) {
      await new Promise((resolve) => setTimeout(resolve, wait * 1_000));
      return await ask(url, true);
    }
    if (response.status === 404 || response.status >= 500) return null;
    return await response.json();
  } catch {
    return null;
  }
}

async function search(q) {
  const turn = ++asked;
  ways.classList.toggle('shown', q === '');
  found.replaceChildren();
  if (q === '') return say('');
  say(words.searching);
  // Together, so that nothing moves when the facts come.
  const [answer, record] = await Promise.all([
    ask(`${api}?${new URLSearchParams({ q })}`),
    words.facts ? ask(`${root}/api/v1/facts?${new URLSearchParams({ q, limit: FACTS_MAX })}`) : null,
  ]);
  // An older question may be answered after a newer one.
  if (turn !== asked) return;
  show(q, answer);
  const facts = record?.facts ?? [];
  if (facts.length > 0) found.append(factList(facts));
  ways.classList.add('shown');
}

function show(q, answer) {
  if (answer === null) return say(words.silent);
  if (!Array.isArray(answer.stories)) return say(words.refused ?? answer.message ?? words.silent);
  const { stories } = answer;
  if (stories.length === 0) return say(words.none.replace('{words}', () => q));
  say(counted(stories.length));
  found.replaceChildren(...stories.map(row));
}

function read() {
  field.value = new URLSearchParams(location.search).get('q') ?? '';
  search(field.value.trim());
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  const q = field.value.trim();
  history.pushState(null, '', `?${new URLSearchParams({ q })}`);
  search(q);
});
addEventListener('popstate', read);
read();
