/** The manual's pages by whom they are for, in the order in which one would read them. A page is the name of its file. */
export const GROUPS = {
  'Start here': ['tutorial'],
  'For desks': ['writing', 'console', 'commands', 'readers', 'pressed-tree', 'translating', 'publishing', 'moving'],
  'For developers': ['api', 'agents', 'domain-records', 'payments', 'verifying', 'transparency', 'protocol'],
  'For operators': [
    'package',
    'settings',
    'operating',
    'cdn',
    'watching',
    'backup',
    'machine-gone',
    'failures',
    'witnesses',
    'upgrading',
    'limits',
    'performance',
  ],
  'For maintainers': ['architecture'],
};
