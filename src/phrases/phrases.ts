import type { en } from './en.ts';

/** The phantom property that remembers the placeholders of a phrase; no value has it. */
declare const PLACEHOLDERS: unique symbol;

/** A text with the placeholders `{P}`, as `fill` takes it. Any string is assignable: translations are checked by a test. */
export type Phrase<P extends string = never> = string & { readonly [PLACEHOLDERS]?: (name: P) => void };

/** A counted phrase: one text for each plural category of CLDR that its language has. */
export type Counted<P extends string = never> = { readonly other: Phrase<P> } & {
  readonly [C in Intl.LDMLPluralRule]?: Phrase<P>;
};

type PlaceholdersOf<Text> = Text extends `${string}{${infer Inner}}${infer Rest}`
  ? (Inner extends `${infer Name}|${string}` ? Name : Inner) | PlaceholdersOf<Rest>
  : never;

type ShapeOf<Group, Categories extends Intl.LDMLPluralRule> = {
  readonly [Key in keyof Group]: Group[Key] extends string
    ? Phrase<PlaceholdersOf<Group[Key]>>
    : Group[Key] extends { readonly other: infer Text }
      ? [Categories] extends [never]
        ? Counted<PlaceholdersOf<Text>>
        : { readonly [C in Categories]: Phrase<PlaceholdersOf<Text>> }
      : ShapeOf<Group[Key], Categories>;
};

/** The table of a language. `Phrases` is what the pages read; `Phrases<'one' | 'other'>` asks for these plural categories. */
export type Phrases<Categories extends Intl.LDMLPluralRule = never> = ShapeOf<typeof en, Categories>;
