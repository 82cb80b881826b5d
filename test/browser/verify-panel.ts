import type { Page } from 'playwright-core';

/** What the panel of a story page says once its checks have ended. */
export interface PanelOutcome {
  status: string;
  /** The titles of all checks. */
  checks: string[];
  /** The titles of those that failed. */
  failed: string[];
  /** All of the panel. */
  text: string;
}

/** Presses the panel's button and waits for the outcome. */
export async function pressVerify(page: Page): Promise<PanelOutcome> {
  const panel = page.locator('#verify');
  await panel.locator('button').first().click();
  await page.getByRole('button', { name: 'Check again' }).waitFor();
  const titles = (selector: string) =>
    panel
      .locator(`${selector} > p:first-child`)
      .evaluateAll((all) => all.map((title) => title.textContent?.replace(/^\S+ /, '') ?? ''));
  return {
    status: (await panel.locator('[role="status"]').textContent()) ?? '',
    checks: await titles('li'),
    failed: await titles('li.failed'),
    text: (await panel.textContent()) ?? '',
  };
}
