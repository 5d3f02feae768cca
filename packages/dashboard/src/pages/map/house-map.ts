import type { Figures } from '@gatehouse/contract'

export type Edge = Figures['edges'][number]
export type Numbers = Pick<Edge, 'calls' | 'denied' | 'held'>

export type MapNode = Numbers & {
  readonly id: string
  readonly kind: 'agent' | 'group' | 'service' | 'upstream' | 'more'
  /** How many are gathered in it where it is of the kind `more`. */
  readonly gathered: number
  readonly name: string
}

/** Between nodes of neighbouring columns, by their ids. */
export type MapLine = Numbers & { readonly id: string; readonly from: string; readonly to: string }

type Columns<T> = { readonly agents: T; readonly groups: T; readonly targets: T }
export type ColumnName = keyof Columns<unknown>

export type HouseMap = {
  readonly columns: Columns<readonly MapNode[]>
  readonly lines: readonly MapLine[]
}

/** More would make a picture in which nothing is found. */
export const columnMax = 10

/** Target behind a group of capabilities: the connected service, or the MCP server whose tools they are. */
export const targetOf = (
  { group, service }: Edge,
  upstreams: ReadonlySet<string>,
): { readonly kind: 'service' | 'upstream'; readonly name: string } | null => {
  if (service !== null) return { kind: 'service', name: service }
  return upstreams.has(group) ? { kind: 'upstream', name: group } : null
}

const sumOf = (all: readonly Numbers[]): Numbers =>
  all.reduce(
    (sum, { calls, denied, held }) => ({
      calls: sum.calls + calls,
      denied: sum.denied + denied,
      held: sum.held + held,
    }),
    { calls: 0, denied: 0, held: 0 },
  )

type Part = Numbers & Pick<MapNode, 'kind' | 'name'>

/** The largest of a column by name, so that what is live stays in its place; all others are one at the end. */
function columnOf(
  column: ColumnName,
  parts: readonly Part[],
): {
  readonly nodes: readonly MapNode[]
  readonly idOf: (part: Omit<Part, keyof Numbers>) => string
} {
  const idFor = ({ kind, name }: Omit<Part, keyof Numbers>): string => `${kind}:${name}`
  const groups = new Map<string, Part[]>()
  for (const part of parts) groups.set(idFor(part), [...(groups.get(idFor(part)) ?? []), part])
  const all = [...groups].map(([id, [first, ...others]]): MapNode => {
    const { kind, name } = first as Part
    return { id, kind, name, gathered: 1, ...sumOf([first as Part, ...others]) }
  })
  const ranked = all.toSorted((a, b) => b.calls - a.calls || (a.id < b.id ? -1 : 1))
  const shown = ranked.slice(0, ranked.length > columnMax ? columnMax - 1 : columnMax)
  const rest = ranked.slice(shown.length)
  const moreId = `more:${column}`
  const ids = new Set(shown.map(({ id }) => id))
  return {
    nodes: [
      ...shown.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      ...(rest.length === 0
        ? []
        : [
            {
              id: moreId,
              kind: 'more' as const,
              name: '',
              gathered: rest.length,
              ...sumOf(rest),
            },
          ]),
    ],
    idOf: (part) => (ids.has(idFor(part)) ? idFor(part) : moreId),
  }
}

const linesOf = (
  parts: readonly (Numbers & { readonly from: string; readonly to: string })[],
): readonly MapLine[] => {
  const lines = new Map<string, MapLine>()
  for (const { from, to, ...numbers } of parts) {
    const id = `${from} ${to}`
    const line = lines.get(id)
    lines.set(id, { id, from, to, ...sumOf(line ? [line, numbers] : [numbers]) })
  }
  return [...lines.values()]
}

/** Agents, what they call, and what is behind that, as a picture of three columns. */
export function houseMapOf(edges: readonly Edge[], upstreams: ReadonlySet<string>): HouseMap {
  const numbersOf = ({ calls, denied, held }: Edge): Numbers => ({ calls, denied, held })
  const parts = edges.map((edge) => ({
    numbers: numbersOf(edge),
    agent: { kind: 'agent' as const, name: edge.agent },
    group: { kind: 'group' as const, name: edge.group },
    target: targetOf(edge, upstreams),
  }))
  const behind = parts.flatMap(({ target, ...part }) => (target ? [{ ...part, target }] : []))
  const agents = columnOf(
    'agents',
    parts.map(({ agent, numbers }) => ({ ...agent, ...numbers })),
  )
  const groups = columnOf(
    'groups',
    parts.map(({ group, numbers }) => ({ ...group, ...numbers })),
  )
  const targets = columnOf(
    'targets',
    behind.map(({ target, numbers }) => ({ ...target, ...numbers })),
  )
  return {
    columns: { agents: agents.nodes, groups: groups.nodes, targets: targets.nodes },
    lines: [
      ...linesOf(
        parts.map(({ agent, group, numbers }) => ({
          from: agents.idOf(agent),
          to: groups.idOf(group),
          ...numbers,
        })),
      ),
      ...linesOf(
        behind.map(({ group, target, numbers }) => ({
          from: groups.idOf(group),
          to: targets.idOf(target),
          ...numbers,
        })),
      ),
    ],
  }
}
