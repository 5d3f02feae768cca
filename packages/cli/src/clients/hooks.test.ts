import fc from 'fast-check'
import { expect, test } from 'vitest'
import { changeHooks } from './change-hooks.ts'
import { gateLine, hookLine, hookSpecs } from './client-hooks.ts'
import { codexHookHash } from './codex-trust.ts'
import { loadFormat } from './config-format.ts'

const words = ['/usr/bin/node', '/opt/my app/bin/gatehouse.js', 'hook']
const ids = Object.keys(hookSpecs)

const specOf = (id: string) => {
  const spec = hookSpecs[id]
  if (!spec) throw new Error(`no hooks of ${id}`)
  return spec
}
const lineOf = (id: string, file = '/d/t') =>
  hookLine([...words, id, '--token-file', file], 'linux')

async function change(id: string, text: string, line: string | null) {
  const { format, isVersioned, items } = specOf(id)
  const given = line === null ? undefined : items(line, 'linux')
  const file = 'f.json'
  return changeHooks(await loadFormat(format), {
    file,
    text,
    client: id,
    items: given,
    isVersioned,
  })
}
const put = (id: string, text: string, line = lineOf(id)) => change(id, text, line)
const take = (id: string, text: string) => change(id, text, null)

test('writes a hook for each client that blocks when it fails, as far as the client can', async () => {
  const line = "/usr/bin/node '/opt/my app/bin/gatehouse.js' hook ID --token-file /d/t || exit 2"
  const written: Record<string, unknown> = {}
  for (const id of ids)
    written[id] = JSON.parse((await put(id, '')).replaceAll(`hook ${id}`, 'hook ID'))
  const cursor = { command: line, timeout: 600, failClosed: true }
  expect(written).toEqual({
    'claude-code': {
      hooks: {
        PreToolUse: [
          {
            matcher: '*',
            hooks: [{ type: 'command', command: line, timeout: 600, onFailure: 'block' }],
          },
        ],
      },
    },
    codex: {
      hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: line, timeout: 600 }] }] },
    },
    gemini: {
      hooks: {
        BeforeTool: [
          {
            matcher: '*',
            hooks: [{ type: 'command', command: line, name: 'gatehouse', timeout: 600_000 }],
          },
        ],
      },
    },
    cursor: {
      version: 1,
      hooks: {
        preToolUse: [{ ...cursor, command: line.replace('ID', 'ID --others') }],
        beforeShellExecution: [cursor],
        beforeMCPExecution: [cursor],
      },
    },
    copilot: {
      version: 1,
      hooks: { preToolUse: [{ type: 'command', bash: line, timeoutSec: 600 }] },
    },
  })
})

const ofClaude = `{
  "model": "opus",
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [{ "type": "command", "command": "./gatehouse hook notes.sh" }]
      }
    ],
    "Stop": [ ]
  },
  "permissions": {"allow": ["Bash(ls:*)"]}
}
`

test('adds a hook behind those of the user, changes no other byte, and takes it out again', async () => {
  const after = await put('claude-code', ofClaude)
  const [start, end] = ofClaude.split('      }\n    ],')
  expect(after.startsWith(`${start}      },\n      {\n        "matcher": "*",\n`)).toBe(true)
  expect(after.endsWith(`    ],${end}`)).toBe(true)
  expect(await put('claude-code', after)).toBe(after)
  expect(await take('claude-code', after)).toBe(ofClaude)
})

test.each([
  '{}',
  '{}\n',
  '{"a":1}',
  '{"hooks":{}}',
  '{"hooks": {"preToolUse": []}}',
  '{"version": 1, "hooks": {"preToolUse": [{"command": "a"}]}}',
  '{\n\t"hooks": {\n\t\t"preToolUse": [\n\t\t\t{"command": "a"}, // mine\n\t\t\t{"command": "b"} // too\n\t\t]\n\t}\n}\n',
  '{\r\n  "hooks": {\r\n    "stop": [{"command": "a"},],\r\n    "preToolUse": [\r\n      {"command": "b"}, /* c */\r\n    ],\r\n  },\r\n}\r\n',
  '\uFEFF{\n "version": 1\n}\n',
  '{"hooks": {"preToolUse": [ /* nothing yet */ ]}}',
])('says the same of everything else in %j', async (text) => {
  const format = await loadFormat('jsonc')
  const after = await put('cursor', text)
  for (const comment of text.match(/\/\/ \w+|\/\*.*?\*\//g) ?? []) expect(after).toContain(comment)
  expect(after.startsWith('\uFEFF')).toBe(text.startsWith('\uFEFF'))
  expect(await put('cursor', after)).toBe(after)
  const back = format.read(await take('cursor', after))
  const lists = Object.entries((format.read(text)['hooks'] ?? {}) as Record<string, unknown[]>)
  const kept = lists.filter(([, list]) => list.length > 0)
  expect(back).toEqual({
    ...format.read(text),
    version: 1,
    hooks: kept.length === 0 ? undefined : Object.fromEntries(kept),
  })
})

test('replaces a hook in its place, and leaves one of several', async () => {
  const old = await put('codex', '{"hooks":{"PreToolUse":[{"hooks":[]}]}}', lineOf('codex', '/old'))
  const [gate] = JSON.parse(old).hooks.PreToolUse.slice(1)
  const text = JSON.stringify({ hooks: { PreToolUse: [gate, { hooks: [] }, gate], Stop: [gate] } })
  const after = JSON.parse(await put('codex', text))
  const [first, second, ...more] = after.hooks.PreToolUse
  expect(first.hooks[0].command).toContain('--token-file /d/t || exit 2')
  expect([second, more, after.hooks.Stop]).toEqual([{ hooks: [] }, [], undefined])
})

test('leaves alone what is no list of hooks', async () => {
  await expect(put('claude-code', '{"hooks": []}')).rejects.toThrow('hooks is no list of hooks')
  await expect(put('codex', '{"hooks": {"PreToolUse": {}}}')).rejects.toThrow(
    'hooks.PreToolUse is no list',
  )
  await expect(put('codex', '{"hooks": {},}')).rejects.toThrow('f.json:1:14:')
  await expect(put('cursor', '{"hooks": {}, "hooks": {"preToolUse": []}}')).rejects.toThrow(
    'without changing more',
  )
})

test('knows its own hooks from those of others', () => {
  const gate = { type: 'command', command: lineOf('codex') }
  expect(gateLine({ hooks: [gate] }, 'codex')).toBe(lineOf('codex'))
  expect(gateLine({ command: 'gatehouse hook codex' }, 'codex')).toBe('gatehouse hook codex')
  expect(gateLine({ hooks: [gate] }, 'gemini')).toBeNull()
  // One that runs something else as well is the user's.
  expect(gateLine({ hooks: [gate, { type: 'command', command: './mine.sh' }] }, 'codex')).toBeNull()
  for (const other of ['my-gatehouse hook codex', 'gatehouse hook codexx', 'gatehouse mcp'])
    expect(gateLine({ command: other }, 'codex')).toBeNull()
  for (const other of [null, 1, [], {}, { hooks: [] }, { hooks: [1] }, { command: 2 }])
    expect(gateLine(other, 'codex')).toBeNull()
})

test('brings back every JSON that it can read', async () => {
  const format = await loadFormat('json')
  const item = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant({ command: 'x' }))
  const lists = fc.dictionary(
    fc.constantFrom('PreToolUse', 'Stop', '"'),
    fc.array(item, { minLength: 1, maxLength: 3 }),
    { minKeys: 1 },
  )
  const documents = fc.record({
    others: fc.dictionary(fc.constantFrom('x', 'version', 'y'), fc.jsonValue({ maxDepth: 2 })),
    hooks: fc.option(lists, { nil: undefined }),
    space: fc.constantFrom<string | number>(0, 2, 4, '\t'),
  })
  await fc.assert(
    fc.asyncProperty(documents, async ({ others, hooks, space }) => {
      const text = JSON.stringify({ ...others, ...(hooks ? { hooks } : {}) }, null, space)
      const after = await put('claude-code', text)
      const { PreToolUse: before = [], ...rest } = JSON.parse(text).hooks ?? {}
      const { PreToolUse: list, ...kept } = JSON.parse(after).hooks
      expect([list.slice(0, -1), kept]).toEqual([before, rest])
      expect(format.read(await take('claude-code', after))).toEqual(format.read(text))
    }),
    { numRuns: 60 },
  )
})

test('hashes a hook as Codex 0.169.0 does, and none that it does not know', () => {
  const command =
    "/usr/bin/node '/opt/gatehouse.js' hook codex --token-file /home/ana/codex.token || exit 2"
  const ours = { hooks: [{ type: 'command', command, timeout: 600 }] }
  const hash = 'sha256:fb1a1e9a89096dd048e7d2744026b1fb2a18f6dd117cfc1d687ace745711e566'
  expect(codexHookHash(ours, 'linux')).toBe(hash)
  const bare = { hooks: [{ command, commandWindows: 'other', type: 'command' }] }
  expect(codexHookHash(bare, 'linux')).toBe(hash)
  expect(codexHookHash(bare, 'win32')).not.toBe(hash)
  const said = { type: 'command', command: 'echo é', timeout: 5, statusMessage: 'x' }
  expect(codexHookHash({ matcher: '', hooks: [said] }, 'linux')).toBe(
    'sha256:ee5a355cdccc010aa4a0c70e18489b1bdcc92ad2ca42cdd5d750917e195e32e1',
  )
  expect(codexHookHash({ hooks: [{ ...said, newer: true }] }, 'linux')).toBeNull()
})
