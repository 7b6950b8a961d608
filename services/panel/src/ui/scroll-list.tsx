import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useRef } from "react";

type ScrollListProps<Row> = {
  label: string;
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  className: string | undefined;
  rowClassName: string | undefined;
  children: (row: Row) => ReactNode;
};

const rowPx = 44;

/** A long list in a box of its own that scrolls; only the rows in sight are drawn, each as high as it needs. */
export function ScrollList<Row>({
  label,
  rows,
  keyOf,
  className,
  rowClassName,
  children,
}: ScrollListProps<Row>) {
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowPx,
    overscan: 5,
    getItemKey: (at) => keyOf(rows[at] as Row),
  });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <div ref={box} className={className} tabIndex={0} role="list" aria-label={label}>
      <div role="presentation" style={{ position: "relative", height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => (
          <div
            key={key}
            ref={virtual.measureElement}
            data-index={index}
            role="listitem"
            aria-setsize={rows.length}
            aria-posinset={index + 1}
            className={rowClassName}
            style={{
              position: "absolute",
              insetInline: 0,
              minHeight: rowPx,
              transform: `translateY(${start}px)`,
            }}
          >
            {children(rows[index] as Row)}
          </div>
        ))}
      </div>
    </div>
  );
}
