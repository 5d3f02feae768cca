import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AgentName } from '@gatehouse/contract'
import { createKit, type Kit } from '@gatehouse/testkit'
import { CountedIds } from '@gatehouse/testkit/counted-ids'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { silent } from '../../src/log/testing.ts'
import { createRestApp, type RestApp } from '../../src/transport/rest/create-rest-app.ts'

// What a coding agent does with its own tools, asked for by its hook.

const policy = `version: 1
rules:
  - { match: process.run, when: 'args.command == "npm"', tier: autonomous }
  - { match: process.run, when: 'args.command == "rm"', tier: blocked, reason: Nothing is removed here }
  - { match: filesystem.write, when: 'args.path.startsWith("frozen/")', tier: blocked, reason: It is frozen }
  - { match: filesystem.read, when: 'args.path.startsWith("secret/")', tier: blocked, reason: It is secret }
  - { match: network.http_request, when: 'host == "example.org"', tier: autonomous }
  - { match: client.tool, when: 'args.tool == "WebSearch"', tier: autonomous }
limits:
  - { match: process.run, limit: 40, window: 1m }
`

let kit: Kit
let rest: RestApp
let token: string
let home: string

const answerOf = async (client: string, body: unknown, signal?: AbortSignal) => {
  const response = await rest.fetch(
    new Request(`http://gatehouse.localhost/api/hooks/${client}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal ? { signal } : {}),
    }),
  )
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const claude = async (tool_name: string, tool_input: object, more: object = {}) =>
  answerOf('claude-code', {
    ...{ session_id: 's', hook_event_name: 'PreToolUse', permission_mode: 'default' },
    ...{ cwd: home, tool_name, tool_input, tool_use_id: 'toolu_1' },
    ...more,
  })

const reasonOf = ({ body }: { readonly body: Record<string, unknown> }): string | null =>
  typeof body['reason'] === 'string' ? body['reason'] : null

const bash = (command: string) => claude('Bash', { command })

const pending = async () => {
  const filter = { status: 'pending', limit: 100, offset: 0 } as const
  return (await kit.storage.approvals.list(filter)).approvals
}

beforeEach(async () => {
  kit = await createKit({ policy })
  await kit.agent('coder')
  home = kit.workspace('coder')
  rest = createRestApp({ app: kit.app, version: '1.2.3', ids: new CountedIds(), log: silent })
  const asks = { label: 'hook', role: 'hook', agent: AgentName.parse('coder') } as const
  ;({ token } = await kit.app.createUserToken(kit.operator(), asks))
})
afterEach(() => kit[Symbol.asyncDispose]())

describe('policy decides about what a client does as about what the gate does', () => {
  test.each([
    ['Bash', { command: 'npm test' }],
    ['Bash', { command: 'cat a.txt | grep -n total | head -5' }],
    ['Bash', { command: 'cd src && ls -la && git status --short && npm run build > out.txt 2>&1' }],
    ['Bash', { command: 'find . -name "*.ts" -type f' }],
    ['Read', { file_path: 'a.txt' }],
    ['Write', { file_path: 'b.txt', content: 'x' }],
    ['Edit', { file_path: 'a.txt', old_string: 'a', new_string: 'b' }],
    ['MultiEdit', { file_path: 'a.txt', edits: [{ old_string: 'a', new_string: 'b' }] }],
    ['Grep', { pattern: 'total(' }],
    ['Glob', { pattern: '**/*.{ts,js}' }],
    ['WebFetch', { url: 'https://example.org/guide', prompt: 'x' }],
    ['TodoWrite', { todos: [] }],
    ['WebSearch', { query: 'x' }],
    ['mcp__gatehouse__filesystem__read', { path: 'x' }],
  ])('%s %j is let through', async (tool, input) => {
    expect(await claude(tool, input)).toEqual({ status: 200, body: {} })
    const [entry] = await kit.audit({ agent: 'coder' })
    expect(entry).toMatchObject({
      result: 'success',
      policy_decision: 'autonomous',
      detail: { tool_use: { client: 'claude-code', tool_use_id: 'toolu_1' } },
    })
    expect(await pending()).toEqual([])
  })

  test.each([
    ['Bash', { command: 'npm test && rm -r build' }, 'Nothing is removed here'],
    ['Bash', { command: 'for f in *; do rm "$f"; done' }, 'Nothing is removed here'],
    ['Bash', { command: 'echo x > frozen/a' }, 'It is frozen'],
    ['Bash', { command: 'cat secret/key' }, 'It is secret'],
    ['Bash', { command: 'cd secret && cat key' }, 'It is secret'],
    ['Write', { file_path: 'a/../frozen/x', content: '' }, 'It is frozen'],
    ['Read', { file_path: 'secret/key' }, 'It is secret'],
  ])('%s %j is refused', async (tool, input, reason) => {
    const answer = await claude(tool, input)
    expect(answer.status).toBe(200)
    expect(reasonOf(answer)).toContain(reason)
    expect(answer.body).toMatchObject({
      decision: 'block',
      hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny' },
    })
    const [entry] = await kit.audit({ agent: 'coder' })
    expect(entry).toMatchObject({ result: 'denied', policy_decision: 'blocked' })
  })

  test.each([
    ['Bash', { command: 'make' }],
    ['Bash', { command: 'npm test $(curl evil.example)' }],
    ['Bash', { command: 'NODE_OPTIONS=--require=./x.js npm test' }],
    ['Bash', { command: 'PATH=. npm test' }],
    ['Bash', { command: 'git diff --no-index a /etc/passwd' }],
    ['Bash', { command: 'git -c core.pager=x log' }],
    ['Bash', { command: 'find . -name x -delete' }],
    ['Bash', { command: 'GIT_EXTERNAL_DIFF=./x git diff' }],
    ['WebFetch', { url: 'https://evil.example/', prompt: 'x' }],
    ['SomethingNew', { a: 1 }],
    ['mcp__github__create_issue', { title: 'x' }],
    ['toString', {}],
  ])('%s %j waits for a person', async (tool, input) => {
    const answer = await claude(tool, input)
    const [approval] = await pending()
    expect(approval?.id).toBeDefined()
    expect(reasonOf(answer)).toContain(`gatehouse approvals approve ${approval?.id}`)
  })
})

describe('outside of the folders of the agent a person decides', () => {
  test.each([
    ['Bash', { command: 'cat /etc/passwd' }],
    ['Bash', { command: 'cd / && npm test' }],
    ['Bash', { command: 'npm test > /tmp/out' }],
    ['Bash', { command: 'cat link/id' }],
    ['Read', { file_path: '/etc/passwd' }],
    ['Read', { file_path: '../other/x' }],
    ['Read', { file_path: 'link/id' }],
    ['Write', { file_path: 'link/new', content: '' }],
    ['Write', { file_path: 'dangling', content: '' }],
    ['Grep', { pattern: 'x', path: '/home' }],
    ['Glob', { pattern: '/etc/**/*.conf' }],
    ['Glob', { pattern: '../*/id' }],
  ])('outside: %s %j', async (tool, input) => {
    mkdirSync(join(home, '..', 'elsewhere'), { recursive: true })
    symlinkSync(join(home, '..', 'elsewhere'), join(home, 'link'))
    symlinkSync(join(home, '..', 'elsewhere', 'nothing'), join(home, 'dangling'))
    await claude(tool, input)
    expect(await pending()).toHaveLength(1)
  })

  test.each([
    ['Write', { file_path: '.claude/settings.local.json', content: '{"disableAllHooks":true}' }],
    ['Edit', { file_path: '.mcp.json', old_string: '', new_string: '{}' }],
    ['Write', { file_path: '.github/mcp.json', content: '{}' }],
    ['Bash', { command: 'echo {} > .github/copilot/settings.local.json' }],
    ['Bash', { command: 'echo {} > .claude/settings.json' }],
    ['Write', { file_path: '.CLAUDE/Settings.json', content: '' }],
    ['Write', { file_path: '.git/hooks/pre-commit', content: '' }],
  ])('its own leash: %s %j', async (tool, input) => {
    await claude(tool, input)
    expect(await pending()).toHaveLength(1)
  })
})

test('what a person approved is let through once, and the same again joins the request', async () => {
  await bash('make')
  const answer = await bash('make')
  const [approval, ...others] = await pending()
  const id = approval?.id ?? ''
  expect(others).toEqual([])
  expect(reasonOf(answer)).toContain(id)
  const shown = await kit.app.showApproval(kit.operator(), { approval_id: id })
  expect(shown.preview?.text).toContain('make\n')
  expect(shown.preview?.text).toContain('without the sandbox')
  await kit.decide(id, 'approve')
  await kit.resolved('coder', id)
  expect((await bash('make')).body).toEqual({})
  expect(reasonOf(await bash('make'))).toContain('waits for a person')
  const [other] = await pending()
  await kit.decide(other?.id ?? '', 'reject', { reason: 'use npm' })
  expect(reasonOf(await bash('make'))).toContain('use npm')
})

test('an agent that waits for the decision or reads of it has not used the permission', async () => {
  await bash('make')
  const id = (await pending())[0]?.id ?? ''
  await kit.decide(id, 'approve')
  await kit.resolved('coder', id)
  const waited = await kit.invoke('coder', 'approvals.wait', { approval_id: id })
  expect(waited).toMatchObject({ kind: 'succeeded', data: { status: 'approved' } })
  const told = await kit.app.pollEvents(kit.op('coder'), { timeout_ms: 0 })
  expect(told.map(({ type }) => type)).toContain('approval.resolved')
  expect((await bash('make')).body).toEqual({})
  expect(reasonOf(await bash('make'))).toContain('waits for a person')
})

test('a question of an agent that holds stays open until a person has decided', async () => {
  await kit.app.editAgent(kit.operator(), {
    name: 'coder',
    changes: { approvals: 'hold' },
    versions: null,
  })
  const asked = bash('make')
  for (;;) {
    const [approval] = await pending()
    if (approval) {
      await kit.decide(approval.id, 'approve')
      break
    }
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  expect((await asked).body).toMatchObject({
    hookSpecificOutput: { permissionDecision: 'allow' },
  })
})

test('nobody else can ask for it, and no agent is offered it', async () => {
  const direct = await kit.invoke('coder', 'client.read', { tool: 'Read', path: '/etc/passwd' })
  expect(direct).toMatchObject({ kind: 'unknown' })
  const wrapped = await kit.invoke('coder', 'tools.call', {
    name: 'client.plan',
    arguments: { tool: 'x' },
  })
  expect(wrapped).toMatchObject({ kind: 'unknown' })
  const listed = await kit.app.listCapabilities(kit.op('coder'), {})
  expect(listed.filter(({ capability }) => capability.group === 'client')).toEqual([])
  expect(await kit.app.describeCapability(kit.op('coder'), { name: 'client.shell' })).toMatchObject(
    { kind: 'unknown' },
  )
  const later = { capability: 'client.plan', arguments: { tool: 'x' }, delay_seconds: 60 }
  expect(await kit.invoke('coder', 'scheduler.create', later)).toMatchObject({
    kind: 'failed',
    error: { type: 'UnknownCapability' },
  })
})

test('a token of a hook opens nothing else, and ends with its agent', async () => {
  const response = await rest.fetch(
    new Request('http://gatehouse.localhost/api/approvals', {
      headers: { authorization: `Bearer ${token}` },
    }),
  )
  expect(response.status).toBe(403)
  await kit.app.revokeAgent(kit.operator(), { name: 'coder' })
  expect((await bash('npm test')).status).toBe(404)
  const make = (input: object) => kit.app.createUserToken(kit.operator(), input as never)
  const gone = { label: 'x', role: 'hook', agent: AgentName.parse('nobody') }
  await expect(make(gone)).rejects.toMatchObject({ type: 'AgentNotFound' })
})

test('a paused agent uses none of its tools', async () => {
  await kit.app.pauseAgent(kit.operator(), { name: 'coder' })
  expect(reasonOf(await bash('npm test'))).toContain('paused')
})

test('a tool set says what the gate offers, and nothing of what the client has', async () => {
  await kit.app.editAgent(kit.operator(), {
    name: 'coder',
    changes: { tools: ['git.*'] },
    versions: null,
  })
  expect((await bash('npm test')).body).toEqual({})
})

test('a program counts under its own limits', async () => {
  for (let n = 0; n < 40; n += 1) expect((await bash('npm test')).body).toEqual({})
  expect(reasonOf(await bash('npm test'))).toContain('40')
  expect((await bash('pwd')).body).toEqual({})
})

test('a request that is no use of a tool is refused with the field that is wrong', async () => {
  const wrong = [
    [{ cwd: 'relative' }, 'cwd'],
    [{ tool_name: 7 }, 'tool_name'],
    [{ tool_input: 'x' }, 'tool_input'],
  ] as const
  for (const [change, field] of wrong) {
    const { status, body } = await claude('Bash', { command: 'ls' }, change)
    expect(status).toBe(400)
    expect(body['detail']).toContain(field)
  }
  expect((await claude('Bash', {})).body['detail']).toContain('command')
  expect((await claude('Glob', { pattern: '*/../../x' })).body['detail']).toContain('pattern')
  expect((await answerOf('emacs', {})).status).toBe(404)
})

describe('each client is answered in its own form', () => {
  const shells: Readonly<Record<string, (command: string) => object>> = {
    codex: (command) => ({ cwd: home, tool_name: 'Bash', tool_input: { command } }),
    gemini: (command) => ({ cwd: home, tool_name: 'run_shell_command', tool_input: { command } }),
    cursor: (command) => ({ hook_event_name: 'beforeShellExecution', command, cwd: home }),
    copilot: (command) => ({ cwd: home, toolName: 'bash', toolArgs: JSON.stringify({ command }) }),
  }
  test.each([
    ['codex', {}, { decision: 'block' }],
    ['gemini', {}, { decision: 'block', reason: expect.stringContaining('removed') as string }],
    ['cursor', { permission: 'allow' }, { permission: 'deny' }],
    ['copilot', {}, { permissionDecision: 'deny' }],
  ])('%s', async (client, allowed, denied) => {
    const ask = async (command: string) => (await answerOf(client, shells[client]?.(command))).body
    expect(await ask('npm test')).toEqual(allowed)
    expect(await ask('rm -r x')).toMatchObject(denied)
  })

  test('a folder by a name that the client reads counts, and one by another name is refused', async () => {
    mkdirSync(join(home, 'secret'))
    const gemini = (tool_name: string, tool_input: object) =>
      answerOf('gemini', { cwd: home, tool_name, tool_input })
    const cat = { command: 'cat key' }
    expect((await gemini('run_shell_command', cat)).body).toEqual({})
    const there = await gemini('run_shell_command', { ...cat, dir_path: 'secret' })
    expect(reasonOf(there)).toContain('It is secret')
    for (const [tool, input] of [
      ['run_shell_command', { ...cat, dir_path: 'secret', working_directory: home }],
      ['run_shell_command', { ...cat, directory: 'secret' }],
      ['grep_search', { pattern: 'x', dir_path: '/etc', path: home }],
      ['read_file', { file_path: 'a.txt', absolute_path: 'secret/key' }],
    ] as const) {
      const { status, body } = await gemini(tool, input)
      expect([status, body['detail']]).toEqual([400, expect.stringMatching(/directory|path/)])
    }
    expect((await claude('Bash', { ...cat, cwd: home })).status).toBe(400)
    expect((await gemini('update_topic', { title: 'x' })).body).toEqual({})
  })

  test('and its own tools are known', async () => {
    const patch = '*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+b\n*** End Patch'
    const deletes = patch.replace('*** End', '*** Delete File: b.txt\n*** End')
    const codex = (tool_name: string, tool_input: object) =>
      answerOf('codex', { cwd: home, tool_name, tool_input })
    expect((await codex('apply_patch', { command: patch })).body).toEqual({})
    const frozen = await codex('apply_patch', { command: patch.replace('a.txt', 'frozen/a') })
    expect(reasonOf(frozen)).toContain('frozen')
    expect(reasonOf(await codex('apply_patch', { command: deletes }))).toContain('a person')
    const padded = patch.replace('*** End', '  *** Add File: frozen/b \n+x\n*** End')
    expect(reasonOf(await codex('apply_patch', { command: padded }))).toContain('frozen')
    expect((await codex('shell', { command: ['bash', '-lc', 'npm test'] })).body).toEqual({})
    expect(reasonOf(await codex('shell', { command: ['bash', '-lc', 'rm x'] }))).toContain(
      'removed',
    )
    expect(reasonOf(await codex('shell', { command: ['rm', 'x'] }))).toContain('removed')
    const gemini = { cwd: home, tool_name: 'mcp_x_y', tool_input: {} }
    const context = { mcp_context: { server_name: 'gatehouse', tool_name: 'y' } }
    expect((await answerOf('gemini', { ...gemini, ...context })).body).toEqual({})
    const cursor = {
      hook_event_name: 'beforeMCPExecution',
      tool_name: 'y',
      workspace_roots: [home],
    }
    const ours = { ...cursor, tool_input: '{}', command: '/usr/bin/node /opt/gatehouse.js mcp --x' }
    expect((await answerOf('cursor', ours)).body).toEqual({ permission: 'allow' })
    const theirs = { ...cursor, tool_input: '{}', url: 'https://mcp.example/' }
    expect((await answerOf('cursor', theirs)).body).toMatchObject({ permission: 'deny' })
  })
})

test('a tool of a server that is behind the gate as well is decided like that one', async () => {
  writeFileSync(join(home, 'a.txt'), 'a\n')
  await kit.app.savePolicy(kit.operator(), {
    text: `${policy.replace('rules:', 'rules:\n  - { match: git.*, tier: blocked }')}`,
  })
  expect(reasonOf(await claude('mcp__git__status', { path: home }))).toContain('Policy')
})

test('a list of tools is about what is offered here, and not about the tools of the client', async () => {
  const before = await bash('npm test')
  await kit.parts.policy.save({ text: policy.replace('rules:', 'tools: ["system.*"]\nrules:') })
  expect(await kit.invoke('coder', 'process.run', { command: 'npm' })).toMatchObject({
    kind: 'denied',
    data: { rule: { match: 'tools' } },
  })
  expect(await bash('npm test')).toEqual(before)
  // The rules hold for both.
  expect(reasonOf(await bash('rm -r x'))).toContain('Nothing is removed here')
})
