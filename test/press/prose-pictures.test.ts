import assert from 'node:assert/strict';
import { test } from 'node:test';
import { proseHtml } from '../../src/desk/press/prose-html.ts';
import type { ProsePicture } from '../../src/desk/press/prose-pictures.ts';

const SHAPES: Record<string, [number, number]> = { wide: [1600, 900], small: [600, 400], tall: [800, 1200] };

/** A picture whose name says its shape: `wide-1.jpg`. */
function pictureOf(path: string): ProsePicture {
  const [width, height] = SHAPES[path.split('-')[0] ?? ''] ?? [10, 10];
  const variants = [400, 800].map((one) => ({ url: `/p/${path}-${one}.avif`, type: 'image/avif', width: one }));
  return { url: `/${path}`, width, height, variants, color: '#88aacc' };
}

const html = (prose: string) => proseHtml(prose, [], pictureOf).html;
/** The outline of the pictures: elements, classes and descriptions. */
const outline = (prose: string) =>
  [...html(prose).matchAll(/<(figure|div)(?: class="([^"]*)")?>|alt="([^"]*)"|<figcaption>([^<]*)|<(p)>/g)]
    .map(([, name, classes, alt, caption, p]) => p ?? caption ?? alt ?? `${name}${classes ? `.${classes}` : ''}`)
    .join(' ');

test('a picture alone in a paragraph is a figure, with its title as caption, and wide when the file is', () => {
  assert.equal(outline('![A quay](small-1.jpg "Dusk & dawn")'), 'figure A quay Dusk &amp; dawn');
  assert.equal(outline('![A quay](wide-1.jpg)'), 'figure.wide A quay');
  assert.equal(outline('![A mast](tall-1.jpg)'), 'figure A mast');
  assert.equal(outline('One.\n\n![A](small-1.jpg)\n\nTwo.'), 'p figure A p');
  assert.equal(outline('With words ![A](small-1.jpg) around it.'), 'p A');
  assert.equal(outline('> ![A](small-1.jpg)'), 'p A');
});

test('pictures side by side are a gallery, in lines of equal height', () => {
  assert.equal(outline('![A](small-1.jpg) ![B](tall-2.jpg)'), 'div.gallery wide div.line figure.x15 A figure.x7 B');
  assert.equal(outline('![A](small-1.jpg)\n![B](small-2.jpg)'), 'div.gallery wide div.line figure.x15 A figure.x15 B');
  // Consecutive paragraphs are one gallery, and words end it.
  const four = [1, 2, 3, 4].map((n) => `![${n}](small-${n}.jpg)`).join('\n\n');
  assert.equal(
    outline(`${four}\n\nOne.\n\n![5](small-5.jpg)`),
    'div.gallery wide div.line figure.x15 1 figure.x15 2 div.line figure.x15 3 figure.x15 4 p figure 5',
  );
  const many = Array.from({ length: 23 }, (_, n) => `![${n}](${['wide', 'small', 'tall'][n % 3]}-${n}.jpg)`).join(' ');
  assert.equal([...html(many).matchAll(/<figure/g)].length, 23);
  assert.doesNotMatch(html(many), /<div class="line"><\/div>/);
});

test('a picture in prose has its sources, size, colour and place, and nothing that the policy refuses', () => {
  assert.equal(
    html('![A "quay"](small-1.jpg)'),
    '<figure><picture><source type="image/avif" srcset="/p/small-1.jpg-400.avif 400w, /p/small-1.jpg-800.avif 800w" sizes="auto, (min-width: 42rem) 38rem, calc(100vw - 2rem)"><img src="/small-1.jpg" alt="A &quot;quay&quot;" width="600" height="400" loading="lazy" decoding="async" class="toned r8 ga bc" sizes="auto"></picture></figure>\n'.replace(
      '&gt;=',
      '>=',
    ),
  );
});

test('feeds and checks of pages, which know addresses alone, have the same text and pictures', () => {
  const prose = 'One.\n\n![A](small-1.jpg "Dusk")\n\n![B](wide-1.jpg)\n\nTwo ![C](tall-1.jpg).';
  const plain = proseHtml(prose, [], (path) => `https://a.example/${path}`).html;
  assert.match(plain, /<img src="https:\/\/a\.example\/small-1\.jpg" alt="A"><figcaption>Dusk<\/figcaption>/);
  const words = (text: string) => text.replace(/<[^>]*>/g, '');
  assert.equal(words(plain), words(html(prose)));
});

test('a link to a media file leads to where it is, and any other stays as it is', () => {
  const prose = '[Listen](media/a.mp3), [out](https://a.example/media/b.mp3), [up](../media/c.mp3)';
  const { html } = proseHtml(prose, [], (path) => `https://quay.example/${path}`);
  const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href);
  assert.deepEqual(links, ['https://quay.example/media/a.mp3', 'https://a.example/media/b.mp3', '../media/c.mp3']);
});
