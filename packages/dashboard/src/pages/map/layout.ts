import type { ColumnName, HouseMap, MapLine, MapNode } from './house-map.ts'

/** Of a node, in pixels. */
export const nodeHeight = 52
const pitch = 64

/** Of a column, in percent of the width. */
export const columnWidth = 22
export const columnLeft: Readonly<Record<ColumnName, number>> = {
  agents: 0,
  groups: 39,
  targets: 78,
}

export type PlacedNode = MapNode & { readonly column: ColumnName; readonly top: number }

export type PlacedLine = MapLine & {
  readonly path: string
  readonly width: number
  /** Where its marks stand: percent of the width, and pixels. */
  readonly mark: { readonly left: number; readonly top: number }
}

export type Layout = {
  readonly height: number
  readonly nodes: readonly PlacedNode[]
  readonly lines: readonly PlacedLine[]
}

const widest = 14
const thinnest = 1.5

const columnNames: readonly ColumnName[] = ['agents', 'groups', 'targets']

/** Marks of one node's lines stand at different places of their way, so that they do not cover each other. */
const shares = [0.42, 0.58, 0.34, 0.66, 0.5] as const

/** Places of everything; columns stand in the middle of the tallest. */
export function layoutOf({ columns, lines }: HouseMap): Layout {
  const rows = Math.max(...columnNames.map((name) => columns[name].length))
  const nodes = columnNames.flatMap((column) => {
    const begin = ((rows - columns[column].length) * pitch) / 2
    return columns[column].map((node, at) => ({ ...node, column, top: begin + at * pitch }))
  })
  const placed = new Map(nodes.map((node) => [node.id, node]))
  const most = Math.max(1, ...lines.map(({ calls }) => calls))
  return {
    height: rows * pitch - (pitch - nodeHeight),
    nodes,
    lines: lines.flatMap((line, at) => {
      const from = placed.get(line.from)
      const to = placed.get(line.to)
      if (!from || !to) return []
      const x1 = columnLeft[from.column] + columnWidth
      const x2 = columnLeft[to.column]
      const y1 = from.top + nodeHeight / 2
      const y2 = to.top + nodeHeight / 2
      const middle = (x1 + x2) / 2
      const t = shares[at % shares.length] ?? 0.5
      const [a, b, c, d] = [(1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t ** 2, t ** 3]
      return [
        {
          ...line,
          path: `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`,
          // By the root: lines of few calls are still told from each other beside one of thousands.
          width: Math.max(thinnest, widest * Math.sqrt(line.calls / most)),
          mark: {
            left: a * x1 + (b + c) * middle + d * x2,
            top: (a + b) * y1 + (c + d) * y2,
          },
        },
      ]
    }),
  }
}
