/**
 * First segments of the addresses under a paper's root, without their endings, that the paper itself uses or will use.
 * test/desk/page.test.ts compares the list with the pressed tree and the routes.
 */
export const RESERVED_PAGES: readonly string[] = [
  // Pages and folders of the pressed tree.
  ...['stories', 'sections', 'days', 'tags', 'masthead', 'cast', 'search', 'subscribe', 'corrections', 'standards'],
  ...['agents', 'embed', 'cards', 'media', 'portraits', 'pictures', 'icons', 'sitemaps'],
  // Files in its root.
  ...[
    'index',
    '404',
    'front',
    'rss',
    'feed',
    'podcast',
    'sitemap',
    'sitemap-news',
    'llms',
    'robots',
    'hue',
    'style',
    'fonts',
    'alphabets',
  ],
  ...['favicon', 'icon', 'apple-touch-icon', 'manifest', 'logo', 'opml'],
  // Routes of the server.
  ...[
    'api',
    'oembed',
    'preview',
    'log',
    'health',
    'ready',
    'console',
    'docs',
    'assets',
    'newsstand',
    'facts',
    'evidence',
  ],
  ...['sources', 'mcp', 'oauth'],
];
