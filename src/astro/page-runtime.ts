/**
 * The functions that compiled pages call, instead of `astro/compiler-runtime`: the press prints tens of thousands of
 * pages, and Astro's own runtime, made to stream any component of any framework, takes several times as long. Here a
 * component is a function that returns its HTML at once. Only what the pages of this project use is supported: the
 * build fails at a missing export, a page with anything else throws, and test/site/page-runtime.test.ts compares every
 * page with Astro's own.
 */

/** Text that is HTML already. */
class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Slot = (page: Page) => Html;
type Slots = Readonly<Record<string, Slot>>;
type Props = Record<string, unknown>;
export type Component = (page: Page, props: Props, slots: Slots) => Html;

/** The state that the components of one printed page share. */
class Page {
  readonly locals: { view: unknown };

  constructor(view: unknown) {
    this.locals = { view };
  }

  /** The `Astro` of a component. */
  createAstro(props: Props, slots: Slots) {
    return { props, slots, locals: this.locals, self: null };
  }
}

const NOTHING = new Html('');

/** Prints a page. Throws whatever the page throws. The compiler takes a page's own doctype out. */
export const print = (page: Component, view: unknown): string => `<!DOCTYPE html>${page(new Page(view), {}, {}).text}`;

export const Fragment = Symbol('Fragment');

export const createAstro = (): null => null;

export const createComponent = (component: Component): Component => component;

/** Pages link their stylesheets and scripts themselves, so Astro has nothing to add to their heads. */
export const renderHead = (): Html => NOTHING;
export const maybeRenderHead = (): Html => NOTHING;

/** The tag of every template. */
export function render(parts: TemplateStringsArray, ...values: unknown[]): Html {
  let text = parts[0] ?? '';
  for (let index = 0; index < values.length; index++) text += textOf(values[index]) + parts[index + 1];
  return new Html(text);
}

/** An expression between tags. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return escapeText(value);
  if (value instanceof Html) return value.text;
  if (value === null || value === undefined || value === false) return '';
  if (Array.isArray(value)) {
    let text = '';
    for (const one of value) text += textOf(one);
    return text;
  }
  if (typeof value === 'number') return String(value);
  throw new TypeError(`a page prints ${Object.prototype.toString.call(value)}, which is not text`);
}

export function renderComponent(page: Page, name: string, component: unknown, props: Props, slots: Slots = {}): Html {
  if (typeof component === 'function') return (component as Component)(page, props, slots);
  const content = renderSlot(page, slots.default);
  if (component === Fragment) return content;
  if (typeof component === 'string') {
    return new Html(`<${component}${spreadAttributes(props).text}>${content.text}</${component}>`);
  }
  throw new TypeError(`the component ${name} is ${component}`);
}

export const renderSlot = (page: Page, slot: Slot | undefined, fallback?: Slot): Html =>
  (slot ?? fallback)?.(page) ?? NOTHING;

/** The value of `set:html`. */
export const unescapeHTML = (value: unknown): Html => (value instanceof Html ? value : new Html(`${value ?? ''}`));

export function spreadAttributes(values: Props): Html {
  let text = '';
  for (const name of Object.keys(values)) text += addAttribute(values[name], name).text;
  return text === '' ? NOTHING : new Html(text);
}

const BOOLEAN =
  /^(?:allowfullscreen|async|autofocus|autoplay|checked|controls|default|defer|disabled|disablepictureinpicture|disableremoteplayback|formnovalidate|inert|loop|muted|nomodule|novalidate|open|playsinline|readonly|required|reversed|scoped|seamless|selected|itemscope)$/i;
const BOOLEAN_IF_SET = new Set(['popover', 'download', 'hidden']);

export function addAttribute(value: unknown, name: string): Html {
  if (value === null || value === undefined) return NOTHING;
  if (name === 'class:list') {
    const classes = classesOf(value);
    return classes === '' ? NOTHING : new Html(` class="${escapeAttribute(classes)}"`);
  }
  if (BOOLEAN.test(name) || (typeof value === 'boolean' && BOOLEAN_IF_SET.has(name))) {
    return value ? new Html(` ${name}`) : NOTHING;
  }
  return value === '' ? new Html(` ${name}`) : new Html(` ${name}="${escapeAttribute(`${value}`)}"`);
}

/** The names in a `class:list`: texts, lists, and objects whose truthy members count. */
function classesOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  let names = '';
  const add = (name: string) => {
    if (name !== '') names += names === '' ? name : ` ${name}`;
  };
  if (Array.isArray(value)) for (const one of value) add(classesOf(one));
  else for (const name of Object.keys(value)) if ((value as Props)[name]) add(name);
  return names;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  "'": '&#39;',
  '"': '&quot;',
};
const entityOf = (sign: string): string => ENTITIES[sign] ?? sign;
const escapeText = (text: string): string => text.replace(/[&<>'"]/g, entityOf);
const escapeAttribute = (text: string): string => text.replace(/[&"]/g, entityOf);
