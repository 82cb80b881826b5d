// Declared here rather than in the output of `astro sync`: a fresh checkout is type-checked before anything is built.
/// <reference types="astro/client" />
declare namespace App {
  interface Locals {
    /** What the page shows: the member of `Pages` for its route. */
    view: unknown;
  }
}
