// Here, and not in what `astro sync` writes: a fresh checkout is checked before anything is built.
/// <reference types="astro/client" />
declare namespace App {
  interface Locals {
    /** What the page shows: the member of `Pages` for its route. */
    view: unknown;
  }
}
