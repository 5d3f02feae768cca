import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasProgram } from '@gatehouse/testkit/programs'
import { describe, expect, test } from 'vitest'
import type { AgentGit } from '../../src/ports/git.ts'
import { GitKit, newest, patch, refusal, whole } from '../git/kit.ts'

const noReal = !hasProgram('git') || !hasProgram('bwrap')

type Act = (git: AgentGit, word: string) => Promise<unknown>

const inRefs: readonly (readonly [string, Act])[] = [
  ['diff from', (git, from) => git.diff('project', { ...whole, from })],
  ['diff to', (git, to) => git.diff('project', { ...whole, to })],
  ['staged diff', (git, from) => git.diff('project', { ...whole, staged: true, from })],
  ['log', (git, ref) => git.log('project', { ...newest, ref })],
  ['show', (git, ref) => git.show('project', { ref, ...patch })],
  ['blame', (git, ref) => git.blame('project', { file: 'a.txt', ref, first: 1, limit: 5 })],
  ['branch name', (git, name) => git.createBranch('project', name, 'HEAD')],
  ['start point', (git, start) => git.createBranch('project', 'x', start)],
  ['switch', (git, name) => git.switchBranch('project', name)],
  ['delete', (git, name) => git.deleteBranch('project', name)],
  ['merge', (git, ref) => git.merge('project', ref)],
  ['restore', (git, source) => git.restore('project', ['a.txt'], source)],
  ['first branch', (git, name) => git.init('new', name)],
  ['clone branch', (git, branch) => git.clone('https://git.example/x', 'new', { branch })],
  ['pull branch', (git, branch) => git.planPull('project', 'https://git.example/x', branch)],
  ['push branch', (git, branch) => git.planPush('project', 'https://git.example/x', branch)],
]

const inFiles: readonly (readonly [string, Act])[] = [
  ['commit', (git, file) => git.commit('project', { message: 'x', files: [file] })],
  ['diff', (git, file) => git.diff('project', { ...whole, paths: [file] })],
  ['restore', (git, file) => git.restore('project', [file], 'HEAD')],
  ['log', (git, file) => git.log('project', { ...newest, file })],
  ['blame', (git, file) => git.blame('project', { file, first: 1, limit: 5 })],
]

const options = (kit: GitKit): readonly string[] => [
  `--output=${kit.mark}`,
  `--upload-pack=touch ${kit.mark}`,
  `-u`,
  `--exec=touch ${kit.mark}`,
  `-Otouch ${kit.mark}`,
  '--no-index',
  '--ext-diff',
  '-c',
  `HEAD --output=${kit.mark}`,
  `HEAD\n--output=${kit.mark}`,
  ':/First',
  'HEAD:a.txt',
  'main..side',
]

describe.skipIf(noReal)('words that git could take for something else', () => {
  test('G01 G02 an option, a range or a search in the place of a commit is no name of one', async () => {
    await using kit = new GitKit()
    await kit.repository()
    for (const [where, act] of inRefs)
      for (const word of options(kit)) {
        const error = await refusal(() => act(kit.git, word))
        expect([where, word, error.type]).toEqual([where, word, 'InvalidRef'])
      }
    expect(kit.isUnharmed()).toBe(true)
    expect(existsSync(kit.at('new'))).toBe(false)
  })

  test('G02 an option in the place of a remote or a file is a name that is not there', async () => {
    await using kit = new GitKit()
    await kit.repository()
    for (const word of options(kit).slice(0, 5)) {
      const types = ['UrlNotAllowed', 'NothingToCommit', 'GitRefused', 'FileNotFound']
      const pulled = await refusal(kit.git.planPull('project', word))
      const pushed = await refusal(kit.git.planPush('project', word))
      expect([pulled.type, pushed.type]).toEqual(['UrlNotAllowed', 'UrlNotAllowed'])
      const committed = await refusal(kit.git.commit('project', { message: 'x', files: [word] }))
      expect(types).toContain(committed.type)
      const restored = await refusal(kit.git.restore('project', [word], 'HEAD'))
      expect(types).toContain(restored.type)
      expect((await kit.git.diff('project', { ...whole, paths: [word] })).files).toEqual([])
      expect((await kit.git.log('project', { ...newest, file: word })).commits).toEqual([])
      expect((await kit.git.log('project', { ...newest, author: word })).commits).toEqual([])
    }
    expect(kit.isUnharmed()).toBe(true)
  })

  test('G03 no address but https leads anywhere, nor does one in the configuration', async () => {
    await using kit = new GitKit()
    await kit.repository()
    const before = kit.get('project/.git/config')
    const urls = [
      `ext::sh -c touch% ${kit.mark}`,
      `file://${kit.outside}`,
      kit.outside,
      'ssh://-oProxyCommand=x/y',
      'git@git.example:x',
      'git://git.example/x',
      'http://127.0.0.1:7703/x',
      'https://u:p@git.example/x',
      'fd::3',
    ]
    for (const url of urls) {
      expect((await refusal(kit.git.clone(url, 'new', {}))).type).toBe('UrlNotAllowed')
      expect((await refusal(kit.git.planPull('project', url))).type).toBe('UrlNotAllowed')
      writeFileSync(kit.at('project/.git/config'), `${before}[remote "origin"]\n\turl = ${url}\n`)
      expect((await refusal(kit.git.planPull('project', 'origin'))).type).toBe('UrlNotAllowed')
      expect((await refusal(kit.git.planPush('project', 'origin'))).type).toBe('UrlNotAllowed')
    }
    expect(existsSync(kit.at('new'))).toBe(false)
    expect(kit.isUnharmed()).toBe(true)
  })

  test('G04 a repository is where the agent may be, and nowhere else', async () => {
    await using kit = new GitKit()
    await kit.repository()
    const places = [kit.outside, '..', '../../..', `${kit.workspace}-evil`, '/']
    for (const place of places) {
      expect((await refusal(kit.git.status(place, { limit: 1 }))).type).toBe('PathOutOfScope')
      expect((await refusal(kit.git.init(place, 'main'))).type).toBe('PathOutOfScope')
      const cloned = await refusal(() => kit.git.clone('https://git.example/x', place, {}))
      expect(cloned.type).toBe('PathOutOfScope')
    }
    symlinkSync(kit.outside, kit.at('link'))
    expect((await refusal(kit.git.init('link', 'main'))).type).toBe('PathOutOfScope')
    expect((await refusal(kit.git.init('link/new', 'main'))).type).toBe('PathOutOfScope')
    expect((await refusal(kit.git.init('project/.git/x', 'main'))).type).toBe('ProtectedPath')
    expect(existsSync(join(kit.outside, '.git'))).toBe(false)
  })

  test('G06 files beside the repository are refused, pathspecs are names', async () => {
    await using kit = new GitKit()
    await kit.repository()
    kit.put('secret.txt', 'beside')
    for (const [where, act] of inFiles) {
      for (const file of ['../secret.txt', 'a/../../secret.txt', join(kit.outside, 'secret.txt')]) {
        const { type } = await refusal(() => act(kit.git, file))
        expect([where, file, type]).toEqual([where, file, 'PathOutOfScope'])
      }
      expect((await refusal(() => act(kit.git, '.git/config'))).type).toBe('ProtectedPath')
    }
    kit.put('project/b.txt', 'b\n')
    for (const spec of [':(top)b.txt', ':/b.txt', ':(attr:x)b.txt', ':!x', '*', ':(glob)**'])
      expect((await refusal(kit.git.commit('project', { message: 'x', files: [spec] }))).type).toBe(
        'NothingToCommit',
      )
    expect((await kit.git.status('project', { limit: 10 })).untracked).toEqual([{ path: 'b.txt' }])
  })

  test('a tree that holds names of git itself writes nothing of it', async () => {
    await using kit = new GitKit()
    await kit.repository()
    const blob = kit.plain('project', 'hash-object', '-w', 'a.txt')
    const config = kit.get('project/.git/config')
    mkdirSync(kit.at('project/tree'))
    // Made by hand: git itself would not put such a name into a tree.
    const entry = Buffer.concat([Buffer.from('100644 config\0'), Buffer.from(blob, 'hex')])
    writeFileSync(kit.at('project/tree/inner'), entry)
    const inner = kit.plain(
      'project',
      'hash-object',
      '-w',
      '-t',
      'tree',
      '--literally',
      'tree/inner',
    )
    const outer = Buffer.concat([Buffer.from('40000 .GIT\0'), Buffer.from(inner, 'hex')])
    writeFileSync(kit.at('project/tree/outer'), outer)
    const tree = kit.plain(
      'project',
      'hash-object',
      '-w',
      '-t',
      'tree',
      '--literally',
      'tree/outer',
    )
    const commit = kit.plain('project', 'commit-tree', tree, '-p', 'HEAD', '-m', 'Evil')
    await kit.git.createBranch('project', 'evil', commit)
    await refusal(kit.git.switchBranch('project', 'evil'))
    await refusal(kit.git.merge('project', 'evil'))
    expect(kit.get('project/.git/config')).toBe(config)
    expect(existsSync(kit.at('project/.GIT'))).toBe(false)
  })

  test('a link in a commit leads nobody out of the repository', async () => {
    await using kit = new GitKit()
    await kit.repository()
    symlinkSync(kit.outside, kit.at('project/out'))
    await kit.git.commit('project', { message: 'Link' })
    await kit.git.createBranch('project', 'side', 'HEAD~1')
    await kit.git.switchBranch('project', 'side')
    kit.put('project/out/secret.txt', 'overwritten\n')
    await kit.git.commit('project', { message: 'Folder of the same name' })
    await kit.git.merge('project', 'main').catch(() => {})
    await kit.git.restore('project', ['.'], 'HEAD').catch(() => {})
    expect(readFileSync(join(kit.outside, 'secret.txt'), 'utf8')).toBe(kit.canary)
    expect(kit.isUnharmed()).toBe(true)
  })
})
