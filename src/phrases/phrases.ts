import type { en } from './en.ts';

/** A phantom property whose type lists the placeholders of a phrase; no value has it. */
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

type English = typeof en;

/** The phrases, by group and name. This is what the pages read. */
export type Phrases = {
  readonly [Group in keyof English]: {
    readonly [Name in keyof English[Group]]: English[Group][Name] extends { readonly other: infer Text }
      ? Counted<PlaceholdersOf<Text>>
      : Phrase<PlaceholdersOf<English[Group][Name]>>;
  };
};

type Path<Category extends string> = {
  [Group in keyof English]: {
    [Name in keyof English[Group] & string]: English[Group][Name] extends string
      ? `${Group}.${Name}`
      : `${Group}.${Name}.${Category}`;
  }[keyof English[Group] & string];
}[keyof English];

/** The file of a translation: each text by its path, `story.back`, or `story.sources.one` for each plural category. */
export type Translation<Category extends Intl.LDMLPluralRule> = Readonly<Record<Path<Category>, string>>;
