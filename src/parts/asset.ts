/** The address of a bundled file. Every paper's tree has its own copy; the development server has a single one. */
export const asset = (base: string, url: string): string => (import.meta.env.DEV ? url : base + url);
