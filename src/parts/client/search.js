const form = document.getElementById('find');
const status = document.getElementById('status');
const found = document.getElementById('found');
const field = form.elements.q;
/** Stands below the results, so it is shown only after them: nothing on the page moves. */
const ways = document.getElementById('ways');
const { api, language } = form.dataset;
/** The paper's address on the current host, which may differ from its own address. */
const root = api.slice(0, -'/api/v1/search'.length);
const words = JSON.parse(form.dataset.words);
const day = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' });

function say(text, ...more) {
  status.replaceChildren(text, ...more);
}

function element(name, className, ...content) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...content);
  return made;
}

function link(href, ...content) {
  const made = element('a', '', ...content);
  made.href = href;
  return made;
}

function button(text, press) {
  const made = element('button', '', text);
  made.type = 'button';
  made.addEventListener('click', press);
  return made;
}

/** The byline of a piece: the persona, or the authors of a piece that the persona imported. */
function signature({ name }, written_by) {
  return written_by === null
    ? name
    : words.written.replace(/\{(\w+)\}/g, (_all, key) => (key === 'writer' ? written_by : name));
}

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
/** Scripts without spaces between words: a term may begin anywhere. */
const UNSPACED = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;
const folded = (text) =>
  text
    .normalize('NFKD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase();

/** The text, with each word marked that begins like a word of the query. */
function marked(text, asked) {
  const terms = asked.match(WORD) ?? [];
  const starts = terms.map(folded);
  const parts = [];
  let end = 0;
  const mark = (from, to) => {
    if (from < end) return;
    parts.push(text.slice(end, from), element('mark', '', text.slice(from, to)));
    end = to;
  };
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (!UNSPACED.test(word)) {
      if (starts.some((start) => folded(word).startsWith(start))) mark(index, index + word.length);
      continue;
    }
    for (const term of terms) {
      const at = word.indexOf(term);
      if (at >= 0) mark(index + at, index + at + term.length);
    }
  }
  return [...parts, text.slice(end)];
}

/** The piece's own picture, else the shapes of its section; null if the paper no longer has that section. */
function art({ thumbnail, image, category }) {
  if (!thumbnail) {
    const shapes = [...ways.querySelectorAll('[data-section]')].find(({ dataset }) => dataset.section === category);
    return shapes?.querySelector('svg').cloneNode(true) ?? null;
  }
  const made = element('img', '');
  Object.assign(made, { alt: '', loading: 'lazy', decoding: 'async', width: 400, height: 267, src: thumbnail });
  // The press may not have made this size yet.
  made.addEventListener('error', () => made.setAttribute('src', image), { once: true });
  return made;
}

function row(story, asked) {
  const { headline, dek, slug, published_at, category, byline, written_by } = story;
  const when = element('time', '', day.format(new Date(published_at)));
  when.dateTime = published_at;
  const picture = art(story);
  return element(
    'article',
    picture === null ? 'row bare' : 'row',
    ...(picture === null ? [] : [picture]),
    element(
      'div',
      'words',
      element('p', 'kicker', category),
      element('h2', '', link(`${root}/stories/${slug}/`, ...marked(headline, asked))),
      ...(dek ? [element('p', 'dek', ...marked(dek, asked))] : []),
      element('p', 'byline', signature(byline, written_by), ' ', element('span', 'ai', words.persona), ' ', when),
    ),
  );
}

function counted(count) {
  const text = words.found[new Intl.PluralRules(words.language).select(count)] ?? words.found.other;
  return text.replace('{count}', () => new Intl.NumberFormat(language).format(count));
}

/** Facts of the record, below the pieces. */
function factList(facts, asked) {
  const items = facts.map(({ claim_key, statement, source }) => {
    const to = link(`${root}/facts/${claim_key}/`, ...marked(statement, asked));
    to.dir = 'auto';
    return element('li', '', to, element('p', 'origin', source));
  });
  return element('section', 'issue', element('h2', '', words.facts), element('ul', 'ways', ...items));
}

/** The most facts shown. */
const FACTS_MAX = 5;

/** The longest wait before asking again when too many searches run, in seconds. */
const WAIT_MAX = 10;

/** The response body, or null if there is no API at the address. Asks once more when too many searches run. */
async function ask(url, signal, isAgain = false) {
  try {
    const response = await fetch(url, { signal });
    const wait = Number(response.headers.get('Retry-After'));
    if (response.status === 503 && !isAgain && wait > 0 && wait <= WAIT_MAX) {
      await new Promise((resolve) => setTimeout(resolve, wait * 1_000));
      return await ask(url, signal, true);
    }
    if (response.status === 404 || response.status >= 500) return null;
    return await response.json();
  } catch {
    return null;
  }
}

/** The query in the form, without empty fields. */
function question() {
  const given = [...new FormData(form)].map(([name, value]) => [name, value.trim()]);
  return new URLSearchParams(given.filter(([, value]) => value !== ''));
}

let running = new AbortController();

async function search() {
  running.abort();
  running = new AbortController();
  const { signal } = running;
  const query = question();
  const q = query.get('q');
  ways.classList.toggle('shown', q === null);
  if (q === null) {
    found.replaceChildren();
    return say('');
  }
  found.setAttribute('aria-busy', 'true');
  say(words.searching);
  // At the same time, so that nothing moves when the facts arrive.
  const [answer, record] = await Promise.all([
    ask(`${api}?${query}`, signal),
    words.facts && query.size === 1
      ? ask(`${root}/api/v1/facts?${new URLSearchParams({ q, limit: FACTS_MAX })}`, signal)
      : null,
  ]);
  // The response to an earlier query may arrive after that to a later one.
  if (signal.aborted) return;
  found.removeAttribute('aria-busy');
  found.replaceChildren();
  show(q, answer, query.size > 1);
  const facts = record?.facts ?? [];
  if (facts.length > 0) found.append(factList(facts, q));
  loadFonts();
  ways.classList.add('shown');
}

const OTHER_SCRIPT = /[^\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Common}\p{sc=Inherited}]/u;

/** Loads the paper's fonts for other scripts when results need them: the page itself may not. */
function loadFonts() {
  if (!OTHER_SCRIPT.test(found.textContent) || document.querySelector('link[href$="/fonts.css"]') !== null) return;
  document.head.append(Object.assign(element('link'), { rel: 'stylesheet', href: `${root}/fonts.css` }));
}

function show(q, answer, isFiltered) {
  if (answer === null) return say(navigator.onLine ? words.silent : words.offline, button(words.again, search));
  if (!Array.isArray(answer.stories)) return say(words.refused ?? answer.message ?? words.silent);
  const { stories } = answer;
  if (stories.length === 0) {
    return say(
      words.none.replace('{words}', () => q),
      ...(isFiltered ? [button(words.whole, searchWhole)] : []),
    );
  }
  say(counted(stories.length));
  found.replaceChildren(...stories.map((story) => row(story, q)));
}

function searchWhole() {
  read(new URLSearchParams({ q: field.value }));
  remember();
  search();
  field.focus();
}

/** Whether the current history entry belongs to a query that is still being typed. */
let isTyping = false;
/** The question of the address whose results are shown. */
let asked = location.search;

/** Puts the query into the address: a new history entry for each query, but only one while typing without a pause. */
function remember(typing = false) {
  const address = `?${question()}`;
  if (address !== location.search) history[isTyping ? 'replaceState' : 'pushState'](null, '', address);
  asked = address;
  isTyping = typing;
}

function read(query = new URLSearchParams(location.search)) {
  field.value = query.get('q') ?? '';
  const [all, ...sections] = form.querySelectorAll('[name="section"]');
  (sections.find(({ value }) => value === query.get('section')) ?? all).checked = true;
  const { year } = form.elements;
  if (!year) return;
  year.value = query.get('year') ?? '';
  // The list has no such year.
  if (year.selectedIndex < 0) year.value = '';
}

/** How long nothing must be typed before a search starts, in ms. */
const PAUSE = 250;
let pause;

field.addEventListener('input', () => {
  clearTimeout(pause);
  pause = setTimeout(() => {
    remember(true);
    search();
  }, PAUSE);
});

form.addEventListener('submit', (event) => {
  event.preventDefault();
  clearTimeout(pause);
  remember();
  search();
});
form.addEventListener('change', ({ target }) => {
  if (target === field) return;
  clearTimeout(pause);
  remember();
  search();
});

/** The arrow keys move from the field through the results, and back. */
document.addEventListener('keydown', (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const stops = [field, ...found.querySelectorAll('h2 a, li a')];
  const at = stops.indexOf(document.activeElement);
  const next = stops[at + step];
  if (step === undefined || at < 0 || next === undefined) return;
  event.preventDefault();
  next.focus();
});

addEventListener('popstate', () => {
  // The way past the head is an address too: results that the keyboard has come to stay.
  if (location.search === asked) return;
  asked = location.search;
  isTyping = false;
  read();
  search();
});
addEventListener('online', () => found.childElementCount === 0 && search());
read();
search();
