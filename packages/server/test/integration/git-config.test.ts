import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import { hasProgram } from '@gatehouse/testkit/programs'
import { describe, expect, test } from 'vitest'
import type { AgentGit } from '../../src/ports/git.ts'
import { GitKit, newest, patch, plainGit, refusal, whole } from '../git/kit.ts'

const noReal = !hasProgram('git') || !hasProgram('bwrap')

/** A program that tells that it ran: in the work tree, where it could, and outside, where it could not. */
const script = (kit: GitKit): string =>
  `#!/bin/sh\ntouch ${kit.at('project')}/RAN\ntouch ${kit.mark}\ncat 2>/dev/null\nexit 0\n`

const trap = (kit: GitKit): string => {
  kit.put('project/trap.sh', script(kit))
  return `sh ${kit.at('project/trap.sh')}`
}

const ran = (kit: GitKit): boolean => existsSync(kit.at('project/RAN')) || existsSync(kit.mark)

type Hostile = readonly [key: string, config: (program: string, kit: GitKit) => string]

const hostile: readonly Hostile[] = [
  ['core.fsmonitor', (program) => `[core]\n\tfsmonitor = ${program}\n`],
  ['filter.x.clean', (program) => `[filter "x"]\n\tclean = ${program}\n`],
  ['filter.x.smudge', (program) => `[filter "x"]\n\tsmudge = ${program}\n`],
  ['filter.x.process', (program) => `[filter "x"]\n\tprocess = ${program}\n`],
  ['diff.x.textconv', (program) => `[diff "x"]\n\ttextconv = ${program}\n`],
  ['diff.x.command', (program) => `[diff "x"]\n\tcommand = ${program}\n`],
  ['diff.external', (program) => `[diff]\n\texternal = ${program}\n`],
  ['merge.x.driver', (program) => `[merge "x"]\n\tdriver = ${program}\n`],
  ['core.sshcommand', (program) => `[core]\n\tsshCommand = ${program}\n`],
  ['core.hookspath', (_, kit) => `[core]\n\thooksPath = ${kit.at('project')}\n`],
  ['core.worktree', (_, kit) => `[core]\n\tworktree = ${kit.outside}\n`],
  ['core.pager', (program) => `[core]\n\tpager = ${program}\n`],
  ['core.editor', (program) => `[core]\n\teditor = ${program}\n`],
  ['core.askpass', (program) => `[core]\n\taskPass = ${program}\n`],
  ['core.gitproxy', (program) => `[core]\n\tgitProxy = ${program}\n`],
  ['core.alternaterefscommand', (program) => `[core]\n\talternateRefsCommand = ${program}\n`],
  ['include.path', (_, kit) => `[include]\n\tpath = ${kit.outside}/secret.txt\n`],
  [
    'includeif.gitdir:/.path',
    (_, kit) => `[includeIf "gitdir:/"]\n\tpath = ${kit.outside}/secret.txt\n`,
  ],
  ['credential.helper', (program) => `[credential]\n\thelper = "!${program}"\n`],
  [
    'credential.https://127.0.0.1.helper',
    (program) => `[credential "https://127.0.0.1"]\n\thelper = "!${program}"\n`,
  ],
  ['remote.x.uploadpack', (program) => `[remote "x"]\n\tuploadpack = ${program}\n`],
  ['remote.x.receivepack', (program) => `[remote "x"]\n\treceivepack = ${program}\n`],
  ['remote.x.vcs', () => `[remote "x"]\n\tvcs = ext\n`],
  ['remote.x.proxy', () => `[remote "x"]\n\tproxy = http://127.0.0.1:1\n`],
  [
    'url.https://evil.example/.insteadof',
    () => `[url "https://evil.example/"]\n\tinsteadOf = https://\n`,
  ],
  ['http.proxy', () => `[http]\n\tproxy = http://127.0.0.1:1\n`],
  ['http.sslverify', () => `[http]\n\tsslVerify = false\n`],
  ['http.extraheader', () => `[http]\n\textraHeader = X: y\n`],
  ['gpg.program', (program) => `[gpg]\n\tprogram = ${program}\n`],
  ['commit.gpgsign', () => `[commit]\n\tgpgSign = true\n`],
  ['extensions.worktreeconfig', () => `[extensions]\n\tworktreeConfig = true\n`],
  ['alias.status', (program) => `[alias]\n\tstatus = "!${program}"\n`],
  ['uploadpack.packobjectshook', (program) => `[uploadpack]\n\tpackObjectsHook = ${program}\n`],
  ['trailer.x.command', (program) => `[trailer "x"]\n\tcommand = ${program}\n`],
  ['submodule.x.update', (program) => `[submodule "x"]\n\tupdate = "!${program}"\n`],
  ['sequence.editor', (program) => `[sequence]\n\teditor = ${program}\n`],
]

const attributes = '* filter=x diff=x merge=x\n'

/** Everything an agent can do with a repository, one after the other. */
const everything: readonly (readonly [string, (git: AgentGit) => Promise<unknown>])[] = [
  ['status', (git) => git.status('project', { limit: 10 })],
  ['diff', (git) => git.diff('project', whole)],
  ['staged diff', (git) => git.diff('project', { ...whole, staged: true })],
  ['log', (git) => git.log('project', newest)],
  ['show', (git) => git.show('project', { ref: 'HEAD', ...patch })],
  ['blame', (git) => git.blame('project', { file: 'a.txt', first: 1, limit: 5 })],
  ['branches', (git) => git.branches('project')],
  ['commit plan', (git) => git.planCommit('project', undefined)],
  ['commit', (git) => git.commit('project', { message: 'All of it' })],
  ['create', (git) => git.createBranch('project', 'other', 'HEAD~1')],
  ['switch', (git) => git.switchBranch('project', 'side')],
  ['merge', (git) => git.merge('project', 'main')],
  ['restore', (git) => git.restore('project', ['.'], 'HEAD~1')],
  ['delete', (git) => git.deleteBranch('project', 'other')],
  ['push plan', (git) => git.planPush('project', 'https://git.example/x')],
  ['pull plan', (git) => git.planPull('project', 'https://git.example/x')],
]

/** Two branches that differ, and a change that is not committed. */
const prepare = async (kit: GitKit): Promise<void> => {
  await kit.repository()
  await kit.git.createBranch('project', 'side', 'HEAD')
  kit.put('project/a.txt', 'two\n')
  await kit.git.commit('project', { message: 'Second' })
  kit.put('project/a.txt', 'three\n')
}

describe.skipIf(noReal)('a repository that is set up to mislead', () => {
  test('G05 each key that names a program or a place is refused by name, and nothing ran', async () => {
    await using kit = new GitKit()
    await prepare(kit)
    kit.put('project/.gitattributes', attributes)
    const before = kit.get('project/.git/config')
    const program = trap(kit)
    for (const [key, config] of hostile) {
      writeFileSync(kit.at('project/.git/config'), before + config(program, kit))
      const error = await refusal(kit.git.diff('project', whole))
      expect([error.type, error.facts['key']]).toEqual(['UnsafeRepoConfig', key])
    }
    expect(ran(kit)).toBe(false)
    writeFileSync(kit.at('project/.git/config'), before)
    expect((await kit.git.status('project', { limit: 10 })).state).toBe('changed')
    expect(kit.isUnharmed()).toBe(true)
  })

  test('G05 every capability refuses, and plain git would have run the program', async () => {
    await using kit = new GitKit()
    await prepare(kit)
    kit.put('project/.gitattributes', attributes)
    const before = kit.get('project/.git/config')
    const program = trap(kit)
    const bad = hostile.slice(0, 8).map(([, config]) => config(program, kit))
    kit.put('project/.git/config', before + bad.join(''))
    for (const [, act] of everything)
      expect((await refusal(act(kit.git))).type).toBe('UnsafeRepoConfig')
    expect(ran(kit)).toBe(false)
    plainGit(kit.at('project'), 'status')
    expect(ran(kit)).toBe(true)
  })

  test('a configuration that is changed after the look is not the one that git gets', async () => {
    await using kit = new GitKit()
    await prepare(kit)
    const program = trap(kit)
    kit.put('project/.gitattributes', attributes)
    const before = readFileSync(kit.at('project/.git/config'))
    const evil = hostile
      .filter(([key]) => !key.startsWith('include') && !key.startsWith('extensions'))
      .map(([, config]) => config(program, kit))
      .join('')
    let swaps = 0
    await kit.git.status('project', { limit: 1 })
    for (const [, act] of everything) {
      writeFileSync(kit.at('project/.git/config'), before)
      // The listing is known from the call before: this command runs after the look.
      kit.beforeRun = () => {
        swaps += 1
        writeFileSync(kit.at('project/.git/config'), evil)
      }
      await act(kit.git)
    }
    expect(swaps).toBeGreaterThan(everything.length)
    expect(ran(kit)).toBe(false)
    expect(kit.isUnharmed()).toBe(true)
  })

  test('a common folder that is named after the look leads to nothing outside', async () => {
    await using kit = new GitKit()
    await prepare(kit)
    const elsewhere = join(kit.outside, 'elsewhere')
    mkdirSync(elsewhere)
    plainGit(elsewhere, 'init', '--quiet', '--bare', '--initial-branch=main')
    const before = readdirSync(elsewhere)
    for (const [, act] of everything) {
      rmSync(kit.at('project/.git/commondir'), { force: true })
      kit.beforeRun = () => writeFileSync(kit.at('project/.git/commondir'), `${elsewhere}\n`)
      await act(kit.git).catch((error: unknown) => expect(error).toBeInstanceOf(GatehouseError))
    }
    expect(readdirSync(elsewhere)).toEqual(before)
    expect(readdirSync(join(elsewhere, 'refs/heads'))).toEqual([])
    expect(kit.isUnharmed()).toBe(true)
  })

  test('hooks of any name do not run', async () => {
    await using kit = new GitKit()
    await prepare(kit)
    trap(kit)
    const names = [
      ...['pre-commit', 'prepare-commit-msg', 'commit-msg', 'post-commit', 'post-checkout'],
      ...['post-merge', 'pre-merge-commit', 'post-index-change', 'reference-transaction'],
      ...['pre-push', 'post-rewrite', 'fsmonitor-watchman', 'pre-auto-gc', 'update', 'post-update'],
    ]
    for (const name of names) kit.put(`project/.git/hooks/${name}`, script(kit))
    for (const name of names) chmodSync(kit.at(`project/.git/hooks/${name}`), 0o755)
    for (const [, act] of everything) await act(kit.git)
    expect(ran(kit)).toBe(false)
    kit.plain('project', 'commit', '--quiet', '--allow-empty', '-m', 'By hand')
    expect(ran(kit)).toBe(true)
  })

  test('a repository inside, whose own configuration runs programs, is never entered', async () => {
    await using kit = new GitKit()
    await kit.repository()
    const program = trap(kit)
    mkdirSync(kit.at('project/sub'))
    plainGit(kit.at('project/sub'), 'init', '--quiet', '--initial-branch=main')
    kit.put('project/sub/x.txt', 'x\n')
    plainGit(kit.at('project/sub'), 'add', '-A')
    plainGit(kit.at('project/sub'), 'commit', '--quiet', '-m', 'Sub')
    kit.plain('project', 'add', 'sub')
    kit.plain('project', 'commit', '--quiet', '-m', 'With a submodule')
    kit.put(
      'project/.gitmodules',
      '[submodule "sub"]\n\tpath = sub\n\turl = https://git.example/x\n\tignore = none\n',
    )
    kit.put('project/sub/.gitattributes', attributes)
    kit.put('project/sub/x.txt', 'y\n')
    const config = kit.get('project/sub/.git/config')
    kit.put(
      'project/sub/.git/config',
      `${config}[filter "x"]\n\tclean = ${program}\n[core]\n\tfsmonitor = ${program}\n`,
    )
    await kit.git.status('project', { limit: 10 })
    await kit.git.diff('project', whole)
    await kit.git.commit('project', { message: 'All of it' })
    await kit.git.createBranch('project', 'side', 'HEAD~1')
    await kit.git.switchBranch('project', 'side')
    await kit.git.merge('project', 'main')
    expect(ran(kit)).toBe(false)
    plainGit(kit.at('project'), 'status')
    expect(ran(kit)).toBe(true)
  })
})

type Misled = readonly [string, (kit: GitKit) => void, RegExp]

const misled: readonly Misled[] = [
  [
    '.git is a file',
    (kit) => {
      renameSync(kit.at('project/.git'), join(kit.outside, 'elsewhere.git'))
      writeFileSync(kit.at('project/.git'), `gitdir: ${kit.outside}/elsewhere.git\n`)
    },
    /points elsewhere/,
  ],
  [
    '.git is a link',
    (kit) => {
      renameSync(kit.at('project/.git'), join(kit.outside, 'elsewhere.git'))
      symlinkSync(join(kit.outside, 'elsewhere.git'), kit.at('project/.git'))
    },
    /\.git is a link/,
  ],
  ['commondir', (kit) => kit.put('project/.git/commondir', kit.outside), /commondir/],
  [
    'alternates',
    (kit) => kit.put('project/.git/objects/info/alternates', kit.outside),
    /alternates/,
  ],
  [
    'a configuration of the work tree',
    (kit) => kit.put('project/.git/config.worktree', ''),
    /config\.worktree/,
  ],
  [
    'the configuration is a link',
    (kit) => {
      renameSync(kit.at('project/.git/config'), join(kit.outside, 'config'))
      symlinkSync(join(kit.outside, 'config'), kit.at('project/.git/config'))
    },
    /config is a link/,
  ],
  [
    'the objects are a link',
    (kit) => {
      renameSync(kit.at('project/.git/objects'), join(kit.outside, 'objects'))
      symlinkSync(join(kit.outside, 'objects'), kit.at('project/.git/objects'))
    },
    /objects is a link/,
  ],
  [
    'the references are a link',
    (kit) => {
      renameSync(kit.at('project/.git/refs'), join(kit.outside, 'refs'))
      symlinkSync(join(kit.outside, 'refs'), kit.at('project/.git/refs'))
    },
    /refs is a link/,
  ],
]

describe.skipIf(noReal)('a repository that leads elsewhere', () => {
  test.each(misled)('%s: refused', async (_name, mislead, reason) => {
    await using kit = new GitKit()
    await kit.repository()
    mislead(kit)
    const error = await refusal(kit.git.status('project', { limit: 10 }))
    expect(error.type).toBe('UnsafeRepository')
    expect(error.message).toMatch(reason)
    expect((await refusal(kit.git.commit('project', { message: 'x' }))).type).toBe(
      'UnsafeRepository',
    )
    expect(kit.isUnharmed()).toBe(true)
  })

  test('G04 a bare repository in the workspace is refused, a folder without one is named', async () => {
    await using kit = new GitKit()
    mkdirSync(kit.at('bare'))
    plainGit(kit.at('bare'), 'init', '--quiet', '--bare')
    expect((await refusal(kit.git.log('bare', newest))).type).toBe('UnsafeRepository')
    mkdirSync(kit.at('plain'))
    expect((await refusal(kit.git.log('plain', newest))).type).toBe('NotARepository')
  })

  test('a project that is exchanged for a link during the call is still the one that was looked at', async () => {
    await using kit = new GitKit()
    await kit.repository()
    mkdirSync(join(kit.outside, 'project'))
    plainGit(join(kit.outside, 'project'), 'init', '--quiet', '--initial-branch=evil')
    kit.put('project/b.txt', 'b\n')
    await kit.git.status('project', { limit: 1 })
    kit.beforeRun = () => {
      kit.beforeRun = () => {}
      renameSync(kit.at('project'), kit.at('moved'))
      symlinkSync(join(kit.outside, 'project'), kit.at('project'))
    }
    const made = await kit.git.commit('project', { message: 'Where I was told to' })
    expect(made.branch).toBe('main')
    expect(plainGit(kit.at('moved'), 'rev-parse', 'HEAD')).toBe(made.commit_hash)
    expect(() => plainGit(join(kit.outside, 'project'), 'rev-parse', 'HEAD')).toThrow()
    expect((await refusal(kit.git.status('project', { limit: 1 }))).type).toBe('PathOutOfScope')
  })
})
