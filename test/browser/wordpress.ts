import { createServer } from 'node:http';
import { type DefaultTreeAdapterTypes, parseFragment, serialize } from 'parse5';

type Element = DefaultTreeAdapterTypes.Element;

/** What a site of WordPress leaves of another site's HTML: elements, each with its attributes. */
const KEPT: Record<string, readonly string[]> = {
  a: ['href'],
  blockquote: [],
  iframe: ['src', 'width', 'height', 'frameborder', 'title'],
};

/**
 * The HTML of an oEmbed record as WordPress shows it: a quotation and a frame,
 * nothing else; the frame in a sandbox, with a secret in its address, and hidden
 * until it tells its height. `said` is the secret that the frame is told, where
 * it is another. Throws when WordPress would show nothing.
 */
export function asWordPressShows(html: string, secret: string, said = secret): string {
  const clean = parseFragment(html);
  filter(clean);
  const [, quote = '', frame] =
    /(<blockquote>.*?<\/blockquote>)?.*(<iframe.*?><\/iframe>)/s.exec(serialize(clean)) ?? [];
  if (frame === undefined) throw new Error(`no frame in ${html}`);
  const hidden = quote === '' ? '' : 'style="position: absolute; visibility: hidden;" ';
  return (
    quote.replace('<blockquote', `<blockquote data-secret="${secret}"`) +
    frame
      .replace(/ src="([^"]*)"/, ` src="$1#?secret=${said}" data-secret="${secret}"`)
      .replace('<iframe', `<iframe ${hidden}sandbox="allow-scripts"`)
  );
}

function filter(parent: DefaultTreeAdapterTypes.ParentNode): void {
  parent.childNodes = parent.childNodes.filter((node) => node.nodeName === '#text' || node.nodeName in KEPT);
  for (const node of parent.childNodes as Element[]) {
    if (node.nodeName === '#text') continue;
    node.attrs = node.attrs.filter(({ name }) => KEPT[node.nodeName]?.includes(name));
    filter(node);
  }
}

/** The script of the page around: which messages it believes, and what it does then. Runs in the browser. */
function listen(): void {
  const told: unknown[] = [];
  Object.assign(window, { told });
  addEventListener('message', ({ data, source }) => {
    told.push(data);
    if (!data?.secret || !data.message || !data.value || /[^a-zA-Z0-9]/.test(data.secret)) return;
    const own = (name: string) => document.querySelectorAll<HTMLElement>(`${name}[data-secret="${data.secret}"]`);
    for (const frame of own('iframe') as NodeListOf<HTMLIFrameElement>) {
      if (source !== frame.contentWindow) continue;
      for (const quote of own('blockquote')) quote.style.display = 'none';
      frame.removeAttribute('style');
      if (data.message === 'height')
        frame.height = String(Math.min(1000, Math.max(200, Number.parseInt(data.value, 10))));
      if (data.message === 'link' && document.activeElement === frame) {
        const [from, to] = [new URL(frame.src), new URL(data.value)];
        if (/^https?:$/.test(to.protocol) && from.host === to.host) window.top?.location.assign(data.value);
      }
    }
  });
  addEventListener('load', () => {
    for (const { contentWindow, dataset } of document.querySelectorAll('iframe'))
      contentWindow?.postMessage({ message: 'ready', secret: dataset.secret }, '*');
  });
}

/** A blog whose one post is what `body` gives, as `asWordPressShows` made it. */
export function blog(body: () => string) {
  return createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html; charset=utf-8').end(
      `<!doctype html><link rel="icon" href="data:,"><title>A blog</title><style>iframe { border: 0; max-width: 100% }</style>
        <p>Before.</p>${body()}<p>After.</p><script>(${listen})()</script>`,
    );
  });
}
