/** Whether this copy of the program was installed as a package. */
const isInstalled = import.meta.url.includes('/node_modules/');

/** The command line as pressed files name it, which must not depend on how this process was started. */
export const OPERATOR_CLI = isInstalled ? 'npx broadsheet' : 'npm run -s broadsheet --';

/** The command line as the user calls it, for messages. */
export const CLI = isInstalled && isGlobal() ? 'broadsheet' : OPERATOR_CLI;

/** Whether the package is installed outside the user's folder, so that `broadsheet` is on the PATH. */
function isGlobal(): boolean {
  const [folder = ''] = decodeURI(new URL(import.meta.url).pathname).split('/node_modules/');
  return !folder.includes('/_npx/') && !`${process.cwd()}/`.startsWith(`${folder}/`);
}
