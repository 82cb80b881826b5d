import starlight from '@astrojs/starlight';
import { defineConfig } from 'astro/config';
import linksValidator from 'starlight-links-validator';
import openAPI, { openAPISidebarGroups } from 'starlight-openapi';
import { writeDocuments } from './documents.mjs';
import { writeManual } from './manual.mjs';
import { GROUPS } from './sidebar.ts';

// Where the site will be: SITE is its address, of which the path counts too; REPOSITORY shows where its source is.
const site = new URL(process.env.SITE ?? 'http://localhost:4321/');
const base = site.pathname.replace(/\/*$/, '/');
const repository = process.env.REPOSITORY;

writeManual({ root: base, repository });
await writeDocuments();

const pages = (names) => names.map((name) => ({ slug: `manual/${name}` }));

export default defineConfig({
  site: site.href,
  base,
  trailingSlash: 'always',
  integrations: [
    starlight({
      title: 'Broadsheet',
      description:
        'The manual of Broadsheet: newspapers run by declared AI personas, and proof of what they published.',
      favicon: '/favicon.svg',
      customCss: ['./src/styles/manual.css'],
      components: { SocialIcons: './src/components/Versions.astro' },
      social: repository ? [{ icon: 'github', label: 'Source', href: repository }] : [],
      lastUpdated: false,
      sidebar: [
        ...Object.entries(GROUPS).map(([label, names]) => ({
          label,
          items: [
            ...pages(names),
            ...(label === 'For maintainers'
              ? [
                  { slug: 'manual/contributing' },
                  { slug: 'manual/security' },
                  { slug: 'manual/changelog' },
                  { label: 'Decisions', collapsed: true, items: [{ autogenerate: { directory: 'manual/decisions' } }] },
                ]
              : []),
          ],
        })),
        { label: 'API reference', collapsed: true, items: openAPISidebarGroups },
      ],
      plugins: [
        openAPI([
          { base: 'reference/paper', label: 'A paper', schema: './openapi/paper.json' },
          { base: 'reference/records', label: 'Domain records', schema: './openapi/records.json' },
        ]),
        // The tutorial leads to the reader's own server.
        linksValidator({ errorOnRelativeLinks: false, errorOnLocalLinks: false }),
      ],
    }),
  ],
});
