import { expect, test } from 'vitest'
import { columnMax, type Edge, houseMapOf } from './house-map.ts'

const edge = (agent: string, group: string, more: Partial<Edge> = {}): Edge => ({
  agent,
  group,
  service: null,
  calls: 1,
  denied: 0,
  held: 0,
  ...more,
})

test('leads from agents over capabilities to services and MCP servers, with their sums', () => {
  const { columns, lines } = houseMapOf(
    [
      edge('ben', 'email', { service: 'mail', calls: 5, held: 2 }),
      edge('ada', 'email', { service: 'mail', calls: 3, denied: 1 }),
      edge('ada', 'tickets', { calls: 4 }),
      edge('ada', 'filesystem', { calls: 9 }),
    ],
    new Set(['tickets', 'unused']),
  )
  const names = Object.values(columns).map((nodes) => nodes.map(({ id, calls }) => [id, calls]))
  expect(names).toEqual([
    [
      ['agent:ada', 16],
      ['agent:ben', 5],
    ],
    [
      ['group:email', 8],
      ['group:filesystem', 9],
      ['group:tickets', 4],
    ],
    [
      ['service:mail', 8],
      ['upstream:tickets', 4],
    ],
  ])
  expect(lines).toContainEqual({
    ...{ id: 'group:email service:mail', from: 'group:email', to: 'service:mail' },
    ...{ calls: 8, denied: 1, held: 2 },
  })
  expect(lines).toHaveLength(6)
})

test('gathers those with the fewest calls, and their lines, and loses no call', () => {
  const many = Array.from({ length: columnMax + 5 }, (_, at) =>
    edge(`agent-${String(at).padStart(2, '0')}`, 'filesystem', { calls: at + 1 }),
  )
  const { columns, lines } = houseMapOf(many, new Set())
  expect(columns.agents).toHaveLength(columnMax)
  expect(columns.agents.at(-1)).toMatchObject({ kind: 'more', gathered: 6, calls: 21 })
  expect(columns.agents[0]).toMatchObject({ name: 'agent-06', gathered: 1 })
  expect(lines).toHaveLength(columnMax)
  const all = many.reduce((sum, { calls }) => sum + calls, 0)
  expect(lines.reduce((sum, { calls }) => sum + calls, 0)).toBe(all)
})

test('shows as many as there is room for without gathering', () => {
  const full = Array.from({ length: columnMax }, (_, at) => edge('ada', `group-${at}`))
  const { columns } = houseMapOf(full, new Set())
  expect(columns.groups.map(({ kind }) => kind)).toEqual(full.map(() => 'group'))
})
