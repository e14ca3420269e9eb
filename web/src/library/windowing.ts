/** Which rows of a long grid are worth having: pure arithmetic, so that a thousand clips cost as much as thirty. */

export interface Shape {
  columns: number;
  rows: number;
  /** From the top of one row to the top of the next. */
  rowPx: number;
  heightPx: number;
}

export function shapeOf(count: number, widthPx: number, leastColumnPx: number, gapPx: number, cardPx: number): Shape {
  const columns = Math.max(1, Math.floor((widthPx + gapPx) / (leastColumnPx + gapPx)));
  const rows = Math.ceil(count / columns);
  const rowPx = cardPx + gapPx;
  return { columns, rows, rowPx, heightPx: rows === 0 ? 0 : rows * rowPx - gapPx };
}

export interface Span {
  first: number;
  /** Before this one it ends. */
  end: number;
}

/** The rows that are seen where the grid's top lies `topPx` above the window's, and `spare` more on either side. */
export function rowsSeen(shape: Shape, topPx: number, viewPx: number, spare: number): Span {
  const first = Math.floor(topPx / shape.rowPx) - spare;
  const end = Math.ceil((topPx + viewPx) / shape.rowPx) + spare;
  const within = (row: number) => Math.min(shape.rows, Math.max(0, row));
  return { first: within(first), end: Math.max(within(first), within(end)) };
}

/** The pages of `size` items that hold the items of a span. */
export function pagesOf(span: Span, size: number): number[] {
  if (span.end <= span.first) return [];
  const first = Math.floor(span.first / size);
  const last = Math.floor((span.end - 1) / size);
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** Where an arrow, Home, End or a page key leads from an item; null: the key means nothing here. */
export function stepTo(key: string, at: number, count: number, columns: number, rowsPerView: number): number | null {
  const last = count - 1;
  const column = at % columns;
  const down = (rows: number) => (at + rows * columns <= last ? at + rows * columns : lastBelow(at, last, columns));
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

/** The item of the last row below `at`: in its column, or the last of all where that row is shorter. */
function lastBelow(at: number, last: number, columns: number): number {
  const lastRow = Math.floor(last / columns);
  if (Math.floor(at / columns) === lastRow) return at;
  return Math.min(last, lastRow * columns + (at % columns));
}
