import { errorTable } from '@gatehouse/contract'
import { expect, test } from 'vitest'
import { createRegistry } from '../../capabilities/registry.ts'
import { standardCapabilities } from '../../capabilities/standard.ts'
import { renderTool } from '../http/tool-entry.ts'
import { ToolNames } from '../http/tool-names.ts'
import { methods } from '../rpc/methods.ts'
import { serverInstructions } from './peer.ts'
import { pageOfTools } from './tools.ts'

type Schema = { readonly [keyword: string]: unknown }

const registry = createRegistry(standardCapabilities)
const known = registry.list().map(({ name }) => name)
const names = new ToolNames(() => known)
const tools = registry
  .list()
  .filter(({ performer }) => performer === 'service')
  .map((capability) => renderTool({ capability, tier: capability.tier }, names).tool)
const named = tools.map((tool) => [tool.name, tool] as const)

test('a page holds far more tools than there are, and the rest comes after it', () => {
  const [first] = registry.list()
  if (!first) throw new Error('there are no capabilities')
  const listed = Array.from({ length: 2_300 }, (_, i) => ({
    capability: { ...first, name: `many.tool_${String(i).padStart(4, '0')}` },
    tier: 'autonomous' as const,
  }))
  const page = pageOfTools(listed, undefined, names)
  expect(page?.entries).toHaveLength(2_000)
  const rest = pageOfTools(listed, page?.nextCursor ?? '', names)
  expect(rest?.entries.map(({ tool }) => tool.name)[0]).toBe('many__tool_2000')
  expect(rest?.nextCursor).toBeNull()
  expect(pageOfTools(listed, 'nonsense', names)).toBeNull()
})

test.each(named)(
  '%s lists its arguments and the required ones, even where there are none',
  (_name, tool) => {
    const { inputSchema } = tool
    const { properties, required } = inputSchema
    expect(inputSchema.type).toBe('object')
    expect(properties).toEqual(expect.any(Object))
    expect(required).toEqual(expect.any(Array))
    const names = Object.keys(properties as object)
    expect(names).toEqual(expect.arrayContaining(required as string[]))
  },
)

test('a server may leave out the arguments of its tool, and the listing says that there are none', () => {
  const [first] = registry.list()
  if (!first) throw new Error('there are no capabilities')
  const capability = { ...first, origin: 'upstream' as const, input_schema: { title: 'Its own' } }
  const { tool } = renderTool({ capability, tier: 'autonomous' }, names)
  const inputSchema = { title: 'Its own', type: 'object', properties: {}, required: [] }
  expect(tool.inputSchema).toEqual(inputSchema)
})

test('the tools of an agent that has everything take at most 60 kB', () => {
  const listed = tools.filter(({ name }) => !name.startsWith('tools__'))
  expect(listed.length).toBeGreaterThan(100)
  expect(Buffer.byteLength(JSON.stringify({ tools: listed }))).toBeLessThanOrEqual(60_000)
})

/** Every property below a schema, with the way to it. */
const propertiesOf = (schema: Schema, way: string): (readonly [string, Schema])[] => {
  const own = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>)
  const parts = [schema['items'], schema['additionalProperties'], schema['anyOf']].flat()
  return [
    ...own.flatMap(([name, property]) => [
      [`${way}.${name}`, property] as const,
      ...propertiesOf(property, `${way}.${name}`),
    ]),
    ...parts.flatMap((part) =>
      typeof part === 'object' && part !== null ? propertiesOf(part as Schema, way) : [],
    ),
  ]
}

test('every argument, however deep, names its type, in the listing and in the full schema', () => {
  const jsonTypes = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']
  const schemas = [
    ...tools.map(({ name, inputSchema }) => propertiesOf(inputSchema, name)),
    ...registry.list().map(({ name, input_schema }) => propertiesOf(input_schema, name)),
  ].flat()
  expect(schemas.length).toBeGreaterThan(500)
  for (const [way, { type }] of schemas) {
    const types = [type].flat()
    expect([
      way,
      types.length > 0 && types.every((one) => jsonTypes.includes(String(one))),
    ]).toEqual([way, true])
  }
})

test('titles are a verb with its noun, and no two are the same', () => {
  const titles = registry.list().map(({ title }) => title)
  expect(new Set(titles).size).toBe(titles.length)
  for (const title of titles) expect(title).toMatch(/^[A-Z]\w*( [\w-]+)+$/)
})

test.each(named)(
  '%s says its tier, and whether it changes or destroys something',
  (_name, tool) => {
    const capability = registry.find(tool.name.replace('__', '.'))
    const asks = capability?.tier === 'approval_required'
    expect(tool.description.endsWith(' Tier: approval_required.')).toBe(asks)
    expect(tool.description.length).toBeLessThan(240)
    const { readOnlyHint, destructiveHint } = tool.annotations
    if (capability?.effect !== 'none') expect(readOnlyHint).toBe(undefined)
    expect(destructiveHint).toBe(readOnlyHint ? undefined : capability?.destructive)
    if (/__(delete|cancel|kill|edit|write|restore|rollback|run)$/.test(tool.name)) {
      expect(readOnlyHint).toBe(undefined)
    }
    if (/__(delete|kill|edit|write|run)$/.test(tool.name)) expect(destructiveHint).toBe(true)
  },
)

test('what only adds is not called destructive, and what replaces is', () => {
  const marked = tools.filter(({ annotations }) => annotations.destructiveHint === false)
  expect(marked.map(({ name }) => name)).toEqual([
    ...['alerts__acknowledge', 'alerts__send', 'approvals__cancel'],
    ...['comms__broadcast', 'comms__send', 'comms__subscribe', 'comms__unsubscribe'],
    ...['email__draft', 'email__flag', 'email__move'],
    ...['filesystem__append', 'filesystem__mkdir', 'filesystem__restore'],
    ...['filesystem__unwatch', 'filesystem__watch'],
    ...['git__clone', 'git__commit', 'git__init', 'git__merge', 'git__pull'],
    ...['network__dns_lookup', 'network__port_check', 'scheduler__create'],
    ...['secrets__request_rotation', 'writes__cancel'],
  ])
})

const dotted = new RegExp(
  `(?<![\\w./@-])(?:${[...new Set(known.map((name) => name.split('.')[0]))].join('|')})\\.[a-z_*]+`,
)
/** Names in a text that nothing can be called by. */
const uncallable = (text: string): readonly string[] => {
  // A setting, for operators.
  const said = text.replace('git.config_allowed', '')
  const others = [...methods.keys()].filter((method) => !known.includes(method))
  return [
    ...(said.match(dotted) ?? []),
    ...others.filter((method) => said.includes(method)),
    ...[...said.matchAll(/\b[a-z]+__[a-z_]+/g)]
      .map(([tool]) => tool)
      .filter((tool) => !known.includes(tool.replace('__', '.'))),
  ]
}

test.each(named)('%s names other tools as they are called', (_name, tool) => {
  const texts = propertiesOf(tool.inputSchema, '').map(([, { description }]) => String(description))
  expect([tool.description, ...texts].flatMap(uncallable)).toEqual([])
})

test.each(Object.entries(errorTable))('%s names tools as they are called', (type, entry) => {
  const recovery = [...entry.recovery]
  const error = names.error({ type, message: entry.say, recovery })
  const steps = error.recovery.flatMap(({ action, description }) => [action, description])
  expect([error.message, ...steps].flatMap(uncallable)).toEqual([])
})

test('the instructions name tools as they are called', () => {
  expect(uncallable(serverInstructions)).toEqual([])
})
