/** Where the workflow of a new paper publishes. */
interface Place {
  /** Its name in the question. */
  title: string;
  /** The secrets that the repository needs, with what each is. */
  secrets: Readonly<Record<string, string>>;
  /** Permissions of the job besides `contents: write`. */
  permissions: readonly string[];
  /** Where the program publishes to: a bucket, or a folder that `steps` upload. */
  publishUrl: string;
  /** Where the workflow stores, between two runs, the state that cannot be recreated. */
  state: string;
  /** The steps that upload the folder, as YAML. */
  steps: string;
}

/** The folder that the program publishes to, with the paper at its top. */
const SITE = `file://\${{ github.workspace }}/site?paper={{slug}}`;
/** A branch of the repository, encrypted: no account but the repository's own is needed. */
const BRANCH = {
  state: 'git:broadsheet-state',
  secrets: { STATE_PASSPHRASE: 'a long random text, such as `openssl rand -base64 32` prints; keep a copy of it' },
};

export const TARGETS = {
  pages: {
    title: 'GitHub Pages',
    ...BRANCH,
    permissions: ['pages: write', 'id-token: write'],
    publishUrl: SITE,
    steps: `      - uses: actions/upload-pages-artifact@fc324d3547104276b827a68afc52ff2a11cc49c9 # v5.0.0
        with:
          path: site
          include-hidden-files: true
      - uses: actions/deploy-pages@cd2ce8fcbc39b97be8ca5fce6e763baed58fa128 # v5.0.0
`,
  },
  netlify: {
    title: 'Netlify',
    state: BRANCH.state,
    secrets: {
      ...BRANCH.secrets,
      NETLIFY_AUTH_TOKEN: 'a personal access token of Netlify',
      NETLIFY_SITE_ID: 'the ID of the site, from its settings',
    },
    permissions: [],
    publishUrl: SITE,
    steps: `      - run: npx --yes netlify-cli@27.10.2 deploy --prod --no-build --dir=site
        env:
          NETLIFY_AUTH_TOKEN: \${{ secrets.NETLIFY_AUTH_TOKEN }}
          NETLIFY_SITE_ID: \${{ secrets.NETLIFY_SITE_ID }}
`,
  },
  cloudflare: {
    title: 'Cloudflare Pages',
    state: BRANCH.state,
    secrets: {
      ...BRANCH.secrets,
      CLOUDFLARE_API_TOKEN: 'a token with the permission “Cloudflare Pages: Edit”',
      CLOUDFLARE_ACCOUNT_ID: 'the ID of the account',
    },
    permissions: [],
    publishUrl: SITE,
    steps: `      - run: npx --yes wrangler@4.164.0 pages deploy site --project-name={{slug}} --branch=main
        env:
          CLOUDFLARE_API_TOKEN: \${{ secrets.CLOUDFLARE_API_TOKEN }}
          CLOUDFLARE_ACCOUNT_ID: \${{ secrets.CLOUDFLARE_ACCOUNT_ID }}
`,
  },
  s3: {
    title: 'an S3 bucket',
    state: 's3://{{slug}}-state/state.tar.zst',
    secrets: {
      AWS_ACCESS_KEY_ID: 'an access key for both buckets',
      AWS_SECRET_ACCESS_KEY: 'its secret',
    },
    permissions: [],
    publishUrl: 's3://{{slug}}?paper={{slug}}',
    steps: '',
  },
} satisfies Record<string, Place>;

export type Target = keyof typeof TARGETS;

export const isTarget = (name: string): name is Target => Object.hasOwn(TARGETS, name);
