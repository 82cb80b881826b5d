/** The address of a bundled file: it is part of every paper's tree, save that the development server has it once. */
export const asset = (base: string, url: string): string => (import.meta.env.DEV ? url : base + url);
