/**
 * Adds a slider under a chart that walks its days, by finger or arrow keys, and announces each day's numbers. It is a
 * single tab stop, whatever the number of days.
 */
export function dayPicker(chart: HTMLElement): void {
  const plot = chart.querySelector('.plot');
  const columns = [...chart.querySelectorAll('svg g')];
  const [last] = columns.slice(-1);
  if (plot === null || last === undefined) return;
  const titleOf = (column: Element) => column.querySelector('title')?.textContent ?? '';

  const said = document.createElement('p');
  said.className = 'said';
  const slider = document.createElement('input');
  slider.type = 'range';
  slider.min = '0';
  slider.max = String(columns.length - 1);
  slider.value = slider.max;
  slider.setAttribute('aria-label', 'Day');

  const show = (at: number) => {
    const column = columns[at] ?? last;
    for (const other of columns) other.classList.toggle('picked', other === column);
    said.textContent = titleOf(column);
    slider.setAttribute('aria-valuetext', titleOf(column));
  };
  slider.addEventListener('input', () => show(Number(slider.value)));
  for (const [at, column] of columns.entries()) {
    column.addEventListener('pointerenter', () => {
      slider.value = String(at);
      show(at);
    });
  }
  plot.append(slider);
  plot.after(said);
  show(columns.length - 1);
}
