import fc from 'fast-check'
import { expect, test } from 'vitest'
import { changeEntry, loadFormat } from './config-format.ts'

const entry = { command: '/usr/bin/node', args: ['/opt/a b', 'mcp', '--x="y"\\'] }
const json = await loadFormat('jsonc')
const toml = await loadFormat('toml')

const set = (text: string, list = ['mcpServers']) =>
  changeEntry(json, { file: 'f.json', text, list, name: 'gatehouse', entry })
const unset = (text: string, list = ['mcpServers']) =>
  changeEntry(json, { file: 'f.json', text, list, name: 'gatehouse', entry: undefined })
const setToml = (text: string) =>
  changeEntry(toml, { file: 'f.toml', text, list: ['mcp_servers'], name: 'gatehouse', entry })
const unsetToml = (text: string) =>
  changeEntry(toml, {
    file: 'f.toml',
    text,
    list: ['mcp_servers'],
    name: 'gatehouse',
    entry: undefined,
  })

const commented = `// of the editor
{ // all of it
\t"theme": "x", // kept
\t"mcpServers": {
\t\t// reads files
\t\t"files": {"command": "npx", "env": {"KEY": "s"}}, // keep
\t\t/* off */ "other": { },
\t},
}
`

test('adds an entry to JSON with comments, and changes no other byte', () => {
  const after = set(commented)
  const lines = after.split('\n')
  expect(lines.slice(0, 5)).toEqual([...commented.split('\n').slice(0, 4), '\t\t"gatehouse": {'])
  const kept = lines.filter((line) => commented.split('\n').includes(line))
  expect(kept.join('\n')).toBe(commented)
  expect(unset(after)).toBe(commented)
})

test.each([
  ['', '{\n  "mcpServers": {\n    "gatehouse": {'],
  ['{}', '{\n  "mcpServers": {\n    "gatehouse": {'],
  ['{"a":1}', '{\n  "mcpServers": {\n    "gatehouse": {'],
  ['{\n    "mcpServers": {}\n}\n', '{\n    "mcpServers": {\n        "gatehouse": {'],
  ['\uFEFF{\r\n "a": 1\r\n}', '\uFEFF{\r\n "mcpServers": {\r\n  "gatehouse": {\r\n'],
  ['{"mcpServers":{"x":{}}}', '{"mcpServers":{\n  "gatehouse": {'],
])('adds an entry to %j as it is written', (text, start) => {
  const after = set(text)
  expect(after.startsWith(start), after).toBe(true)
  expect(JSON.parse(after.replace('\uFEFF', ''))).toMatchObject({
    mcpServers: { gatehouse: entry },
  })
  expect(() => JSON.parse(unset(after).replace('\uFEFF', ''))).not.toThrow()
  // Once more changes nothing.
  expect(set(after)).toBe(after)
})

test.each([
  ['{"mcpServers":{"x":{},"gatehouse":{}}}', '{"mcpServers":{"x":{}}}'],
  ['{"mcpServers":{"x":{} /* , */ , "gatehouse":{} , }}', '{"mcpServers":{"x":{} /* , */ ,   }}'],
  ['{"mcpServers":{"gatehouse":{}, "x":{}}}', '{"mcpServers":{ "x":{}}}'],
  [
    '{\n  "mcpServers": {\n    "x": {},\n    "gatehouse": {\n    }\n  }\n}\n',
    '{\n  "mcpServers": {\n    "x": {}\n  }\n}\n',
  ],
])('takes the entry out of %j', (text, after) => {
  expect(unset(text)).toBe(after)
})

test('says where a configuration is malformed, and refuses servers that are no list by name', async () => {
  expect(() => set('{\n  "a": 1\n  "b": 2\n}')).toThrow('f.json:3:3: Comma expected.')
  const strict = { file: 'f.json', list: ['servers'], name: 'gatehouse', entry }
  const plain = changeEntry.bind(null, await loadFormat('json'))
  expect(() => plain({ ...strict, text: '{\n // no\n}' })).toThrow('f.json:2:2: Invalid comment')
  const gemini = changeEntry.bind(null, await loadFormat('json with comments'))
  expect(() => gemini({ ...strict, text: '{\n // yes\n "a": 1,}' })).toThrow('f.json:3:9:')
  expect(() => set('[]')).toThrow('f.json:1:1: It must be an object.')
  expect(() => set('{"mcpServers": []}')).toThrow('mcpServers is no list of servers by name')
  expect(() => setToml('a = 1\nb = = 2\n')).toThrow(/f\.toml:2:\d+: Invalid TOML document/)
  expect(() => setToml('mcp_servers = {}\n')).toThrow('cannot be changed without changing more')
  // A name that stands twice means one thing to us and may mean another to the client.
  expect(() => set('{"mcpServers": {"gatehouse": 1, "gatehouse": 2}}')).toThrow('changing more')
})

const ofCodex = `# mine
model = "o4"

[mcp_servers.files]
command = "npx" # c
args = ["""
[mcp_servers.gatehouse]
"""]

# of the terminal
[tui]
theme = "x"
`

test('adds a table to TOML, replaces it, and takes it out', () => {
  const plain = ofCodex.replace(/args[^\]]*\]\n"""\]\n/, '')
  const after = setToml(plain)
  expect(after.startsWith(plain)).toBe(true)
  expect(after.slice(plain.length)).toBe(
    '\n[mcp_servers.gatehouse]\ncommand = "/usr/bin/node"\nargs = ["/opt/a b", "mcp", "--x=\\"y\\"\\\\"]\n',
  )
  expect(setToml(after)).toBe(after)
  expect(unsetToml(after)).toBe(plain)
  const inside = plain.replace(
    '# of the terminal',
    '["mcp_servers" . gatehouse]\ncommand = "old"\n[mcp_servers.gatehouse.env]\nA = "b"\n\n# of the terminal',
  )
  expect(unsetToml(inside)).toBe(plain)
  expect(setToml('')).toBe(
    '[mcp_servers.gatehouse]\ncommand = "/usr/bin/node"\nargs = ["/opt/a b", "mcp", "--x=\\"y\\"\\\\"]\n',
  )
})

test('leaves TOML alone in which a text looks like the table', () => {
  expect(() => setToml(ofCodex)).toThrow('cannot be changed without changing more')
})

test('brings back every JSON that it can read, and says the same of everything else', () => {
  const name = fc.constantFrom('a', 'b', 'mcpServers', '"', 'ü')
  const value = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant({}))
  const servers = fc.dictionary(name, value)
  const documents = fc.record({
    others: fc.dictionary(fc.constantFrom('x', 'y'), value),
    servers: fc.option(servers, { nil: undefined }),
    space: fc.constantFrom<string | number>(0, 1, 2, 4, '\t'),
  })
  fc.assert(
    fc.property(documents, ({ others, servers: given, space }) => {
      const made = { ...others, ...(given === undefined ? {} : { mcpServers: given }) }
      const text = JSON.stringify(made, null, space)
      // As it is read: JSON has no -0.
      const before = JSON.parse(text)
      const after = set(text)
      const mcpServers = { ...before.mcpServers, gatehouse: entry }
      expect(JSON.parse(after)).toEqual({ ...before, mcpServers })
      expect(JSON.parse(unset(after))).toEqual({ ...before, mcpServers: before.mcpServers ?? {} })
    }),
  )
})

test('changes a list of servers within others, and makes those that are missing', () => {
  const list = ['projects', '/srv/a "b"', 'mcpServers']
  const text = `{
  "projects": {
    "/srv/a \\"b\\"": { "history": [1], "mcpServers": { "x": {} } },
    "/srv/c": {
      "mcpServers": {
        "x": { "command": "y" }
      }
    }
  }
}`
  const after = set(text, list)
  expect(after).not.toBe(text)
  expect(JSON.parse(unset(after, list))).toEqual(JSON.parse(text))
  const [projects] = list
  const ofOther = [`${projects}`, '/srv/c', 'mcpServers']
  const change = { file: 'f.json', text, list: ofOther, name: 'x' }
  const without = changeEntry(json, { ...change, entry: undefined })
  expect(without).toBe(text.replace(/\{\n +"x": \{ "command": "y" \}\n +\}/, '{\n      }'))
  for (const start of ['{}', '{"projects": {}}', '{"projects": {"/srv/c": {"a": 1}}}']) {
    const made = JSON.parse(set(start, ofOther)) as { projects: Record<string, object> }
    expect(made.projects['/srv/c']).toMatchObject({ mcpServers: { gatehouse: entry } })
  }
  expect(() => set('{"projects": []}', list)).toThrow('is no list of servers by name')
})

test('puts back into TOML a server with what it holds', () => {
  const text =
    '# mine\n\n[mcp_servers."a b"]\ncommand = "x"\nargs = ["1"]\nenabled = true\ntimeout = 1.5\n\n[mcp_servers."a b".env]\n"X.Y" = "é\\u0001"\nZ = "2"\n'
  const change = { file: 'f.toml', text, list: ['mcp_servers'], name: 'a b' }
  const removed = changeEntry(toml, { ...change, entry: undefined })
  expect(removed).toBe('# mine\n')
  const { mcp_servers: servers } = toml.read(text) as { mcp_servers: { 'a b': object } }
  const entry = { ...servers['a b'] }
  const back = changeEntry(toml, { ...change, text: removed, entry })
  expect(toml.read(back)).toEqual(toml.read(text))
})
