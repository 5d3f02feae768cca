import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasProgram } from '@gatehouse/testkit/programs'
import { describe, expect, test } from 'vitest'
import { GitServer } from '../packages/server/test/git/git-server.ts'
import { filesBelow } from './support/files-below.ts'
import { Installation, invoke, type Run, rpc } from './support/server.ts'

const noReal = !hasProgram('git') || !hasProgram('bwrap')

type Shown = { readonly digest: string; readonly preview: { readonly text: string } }
type Outcome = {
  readonly status: string
  readonly execution?: { readonly state: string }
  readonly result?: {
    readonly success: boolean
    readonly data?: Record<string, unknown>
    readonly error?: { readonly type: string; readonly message: string }
  }
}

/** An agent at work on a remote that asks for a login, which only the vault knows. */
const workplace = async (gate: Installation, server: GitServer) => {
  const run = await gate.start([
    ...['--outbound-private-targets', server.host],
    ...['--outbound-ca-file', server.caFile],
  ])
  const { token, workspace } = await gate.createAgent('coder')
  const scope = ['--capability', 'git.*', '--host', '127.0.0.1', '--agent', 'coder']
  const added = await gate.cli(['vault', 'add', 'git-token', ...scope], server.login)
  expect(added.stderr).toBe('')
  return { run, token, workspace }
}

const done = async (run: Run, token: string, capability: string, args: object) => {
  const { result, error } = await invoke(run, token, capability, args)
  expect([capability, error ?? null, result?.error ?? null]).toEqual([capability, null, null])
  return result?.data ?? {}
}

/** A call that waits for a person: its id and what the person is shown. */
const asked = async (
  gate: Installation,
  run: Run,
  token: string,
  capability: string,
  args: object,
) => {
  const { error } = await invoke(run, token, capability, args)
  expect(error?.code).toBe(-32002)
  const id = String(error?.data?.['approval_id'])
  return { id, shown: await gate.json<Shown>(['approvals', 'show', id]) }
}

const approved = async (
  gate: Installation,
  run: Run,
  token: string,
  id: string,
): Promise<Outcome> => {
  expect((await gate.cli(['approvals', 'approve', id])).code).toBe(0)
  const { result } = await rpc(run, token, 'approvals.wait', {
    approval_id: id,
    timeout_seconds: 60,
  })
  return result as unknown as Outcome
}

/** The person is told what changed, and nothing is decided. */
const expectStale = async (gate: Installation, id: string): Promise<void> => {
  const { code, stderr } = await gate.cli(['approvals', 'approve', id, '--json'])
  expect(code).toBe(1)
  expect(JSON.parse(stderr)).toMatchObject({ error: { type: 'ApprovalStale' } })
}

const holding = (folder: string, text: string): string[] =>
  [...filesBelow(folder)].flatMap(({ path, bytes }) => (bytes.includes(text) ? [path] : []))

describe.skipIf(noReal)('an agent on a project', () => {
  test('clones, edits, tests, commits and asks to push; a person approves, and the remote has the commit', async () => {
    await using server = await GitServer.open()
    const url = server.create('app.git', 0)
    server.add('app.git', 'add.sh', 'echo $(($1 - $2))\n', 'Add numbers')
    server.add('app.git', 'test.sh', 'test "$(sh add.sh 2 3)" = 5 && echo passed\n', 'Test it')
    await using gate = new Installation()
    const { run, token, workspace } = await workplace(gate, server)

    const clone = { url, path: 'app', secret: 'git-token' }
    const cloning = await asked(gate, run, token, 'git.clone', clone)
    expect(cloning.shown.preview.text).toContain(url)
    expect(cloning.shown.preview.text).toContain('with the secret git-token')
    expect(existsSync(join(workspace, 'app'))).toBe(false)
    expect(await approved(gate, run, token, cloning.id)).toMatchObject({
      status: 'approved',
      result: { success: true, data: { default_branch: 'main', head: server.head('app.git') } },
    })

    const tests = { command: 'sh', args: ['test.sh'], working_directory: 'app' }
    const failing = await asked(gate, run, token, 'process.run', tests)
    expect((await approved(gate, run, token, failing.id)).result?.data).toMatchObject({
      exit_code: 1,
    })
    await done(run, token, 'filesystem.edit', {
      path: 'app/add.sh',
      pattern: '$1 - $2',
      replace: '$1 + $2',
    })
    const passing = await asked(gate, run, token, 'process.run', { ...tests, args: ['./test.sh'] })
    expect((await approved(gate, run, token, passing.id)).result?.data).toMatchObject({
      exit_code: 0,
      stdout: 'passed\n',
    })

    expect(await done(run, token, 'git.status', { path: 'app' })).toMatchObject({
      state: 'changed',
      unstaged: [{ path: 'add.sh', status: 'modified' }],
      ahead: 0,
    })
    const made = await done(run, token, 'git.commit', {
      path: 'app',
      message: 'Add, do not subtract',
    })
    expect(made).toMatchObject({ files_committed: 1, branch: 'main' })

    const pushing = await asked(gate, run, token, 'git.push', { path: 'app', secret: 'git-token' })
    const { text } = pushing.shown.preview
    expect(text).toContain(url)
    expect(text).toContain('1 commit would go to main')
    expect(text).toContain('Add, do not subtract (coder)')
    expect(server.head('app.git')).not.toBe(made['commit_hash'])
    expect((await approved(gate, run, token, pushing.id)).result).toMatchObject({
      success: true,
      data: { pushed_refs: ['refs/heads/main'], new_commits: 1, head: made['commit_hash'] },
    })
    expect(server.head('app.git')).toBe(made['commit_hash'])

    const { entries } = await gate.json<{ entries: { result: string; detail: unknown }[] }>([
      ...['audit', 'query', '--capability', 'git.push'],
    ])
    expect(entries).toContainEqual(
      expect.objectContaining({
        result: 'success',
        detail: expect.objectContaining({ sandbox: 'bubblewrap', remote_url: url, branch: 'main' }),
      }),
    )
    const password = server.login.split(':')[1] ?? ''
    expect(holding(gate.dataDir, password)).toEqual([])
    expect(gate.output).not.toContain(password)
  })

  test('a push that was approved is the push that runs: another head, branch or address is stale', async () => {
    await using server = await GitServer.open()
    const url = server.create('app.git')
    const elsewhere = server.create('elsewhere.git', 0)
    await using gate = new Installation()
    const { run, token, workspace } = await workplace(gate, server)
    const clone = await asked(gate, run, token, 'git.clone', {
      url,
      path: 'app',
      secret: 'git-token',
    })
    await approved(gate, run, token, clone.id)
    const before = server.head('app.git')
    await done(run, token, 'filesystem.write', { path: 'app/a.txt', content: 'a\n' })
    await done(run, token, 'git.commit', { path: 'app', message: 'Harmless' })
    const push = { path: 'app', secret: 'git-token' }

    const first = await asked(gate, run, token, 'git.push', push)
    await done(run, token, 'filesystem.write', { path: 'app/a.txt', content: 'evil\n' })
    const second = await done(run, token, 'git.commit', { path: 'app', message: 'Not shown' })
    await expectStale(gate, first.id)
    expect(server.head('app.git')).toBe(before)

    const next = await asked(gate, run, token, 'git.push', { ...push, branch: 'main' })
    const config = join(workspace, 'app/.git/config')
    const text = readFileSync(config, 'utf8')
    writeFileSync(config, text.replace(url, elsewhere))
    await expectStale(gate, next.id)
    expect(() => server.head('elsewhere.git')).toThrow()
    writeFileSync(config, text)

    const last = await asked(gate, run, token, 'git.push', { ...push, remote: url })
    expect((await approved(gate, run, token, last.id)).result?.success).toBe(true)
    expect(server.head('app.git')).toBe(second['commit_hash'])
  })
})
