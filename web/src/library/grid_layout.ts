/** The layout of the virtualized grid: pure arithmetic, independent of the number of clips. */

export interface GridLayout {
  columns: number;
  rows: number;
  /** From the top of one row to the top of the next. */
  rowPx: number;
  heightPx: number;
}

export function computeLayout(
  count: number,
  widthPx: number,
  minColumnPx: number,
  gapPx: number,
  cardPx: number,
): GridLayout {
  const columns = Math.max(1, Math.floor((widthPx + gapPx) / (minColumnPx + gapPx)));
  const rows = Math.ceil(count / columns);
  const rowPx = cardPx + gapPx;
  return { columns, rows, rowPx, heightPx: rows === 0 ? 0 : rows * rowPx - gapPx };
}

export interface Span {
  first: number;
  /** Exclusive. */
  end: number;
}

/** Returns the visible rows if the grid's top is `topPx` above the window's top, with `extraRows` on either side. */
export function visibleRows(layout: GridLayout, topPx: number, viewPx: number, extraRows: number): Span {
  const first = Math.floor(topPx / layout.rowPx) - extraRows;
  const end = Math.ceil((topPx + viewPx) / layout.rowPx) + extraRows;
  const clamp = (row: number) => Math.min(layout.rows, Math.max(0, row));
  return { first: clamp(first), end: Math.max(clamp(first), clamp(end)) };
}

/** Returns the pages of `size` items that contain a span. */
export function pagesForSpan(span: Span, size: number): number[] {
  if (span.end <= span.first) return [];
  const first = Math.floor(span.first / size);
  const last = Math.floor((span.end - 1) / size);
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** Returns the item that an arrow, Home, End or Page key leads to; null for other keys. */
export function targetIndex(
  key: string,
  at: number,
  count: number,
  columns: number,
  rowsPerView: number,
): number | null {
  const last = count - 1;
  const column = at % columns;
  const down = (rows: number) => (at + rows * columns <= last ? at + rows * columns : lastItemBelow(at, last, columns));
  const up = (rows: number) => (at - rows * columns >= 0 ? at - rows * columns : column);
  switch (key) {
    case "ArrowRight":
      return Math.min(last, at + 1);
    case "ArrowLeft":
      return Math.max(0, at - 1);
    case "ArrowDown":
      return down(1);
    case "ArrowUp":
      return up(1);
    case "PageDown":
      return down(Math.max(1, rowsPerView));
    case "PageUp":
      return up(Math.max(1, rowsPerView));
    case "Home":
      return at - column;
    case "End":
      return Math.min(last, at - column + columns - 1);
    case "Mod+Home":
      return 0;
    case "Mod+End":
      return last;
    default:
      return null;
  }
}

/** Returns the item in the last row below `at`: in its column, or the last item where that row is shorter. */
function lastItemBelow(at: number, last: number, columns: number): number {
  const lastRow = Math.floor(last / columns);
  if (Math.floor(at / columns) === lastRow) return at;
  return Math.min(last, lastRow * columns + (at % columns));
}
