import assert from 'node:assert/strict';
import { test } from 'node:test';
import { append } from '../../src/desk/append.ts';
import { postRow } from '../../src/desk/papers/post.ts';
import { Edition } from '../../src/desk/press/edition.ts';
import { linksOf } from '../../src/desk/press/outputs/frame.ts';
import { appContextIn, createPaper, PAPER, tempFolder } from '../support/app-context.ts';
import { publish } from '../support/newsroom.ts';

const TYPES = {
  'media/art/photo.jpg': 'image/jpeg',
  'media/art/photo.png': 'image/png',
  'media/art/photo.webp': 'image/webp',
  'media/art/photo.avif': 'image/avif',
  'media/art/drawing.svg': 'image/svg+xml',
  'media/art/moving.gif': 'image/gif',
};

test('the picture of a post is a PNG or a JPEG: the piece’s own, or its share card', (t) => {
  const app = appContextIn(t, tempFolder(t), { now: Date.UTC(2026, 10, 20) });
  createPaper(app);
  app.store.database.transact(() => {
    for (const [path, media_type] of Object.entries(TYPES)) {
      const media = {
        path,
        digest: `sha256:${path}`,
        media_type,
        bytes: 1,
        width: 800,
        height: 600,
        duration_ms: null,
      };
      append(app.store.desk, {
        type: 'record',
        at: app.clock.now(),
        paper: PAPER,
        kind: 'media',
        name: path,
        body: media,
      });
    }
  });
  const site = { root: 'https://news.example', base: '' };
  const edition = new Edition(app.store.desk.archive(PAPER), site as ConstructorParameters<typeof Edition>[1]);
  for (const [path, type] of Object.entries(TYPES)) {
    const slug = path.replace(/\W/g, '-').replace('media-art-', '');
    publish(app, slug, { image: { src: path, alt: 'A buoy', credit: null } });
    const row = app.store.desk
      .archive(PAPER)
      .latest({ limit: 10 })
      .find((one) => one.slug === slug);
    assert.ok(row);
    const { image } = postRow(row, linksOf(edition));
    const isOwn = ['image/jpeg', 'image/png'].includes(type);
    assert.match(image, isOwn ? new RegExp(`/${path}$`) : /^https:\/\/news\.example\/cards\/[\w-]+\.png$/, type);
  }
});
