import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasProgram } from '@gatehouse/testkit/programs'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { invoke } from '../support/server.ts'
import { Siege } from './harness.ts'

const noReal = !hasProgram('git') || !hasProgram('bwrap')

let siege: Siege
/** Beside every folder of the agent: a canary that nobody reads, and a mark that nobody makes. */
const out = mkdtempSync(join(tmpdir(), 'gatehouse-out-'))
const mark = join(out, 'MARK')
const canary = `CANARY-FS-${Math.random().toString(36).slice(2)}`
const canaryFile = join(out, 'canary.txt')

const git = async (action: string, args: object) => {
  const { result, error } = await invoke(siege.run, siege.alpha.token, `git.${action}`, args)
  return {
    text: JSON.stringify(result ?? error),
    type: result?.success === false ? result.error?.type : (error?.code ?? 'success'),
    data: result?.data ?? {},
  }
}

const at = (...names: string[]): string => join(siege.alpha.workspace, ...names)

const write = (path: string, content: string) =>
  invoke(siege.run, siege.alpha.token, 'filesystem.write', { path, content, create_parents: true })

describe.skipIf(noReal)('git', () => {
  beforeAll(async () => {
    writeFileSync(canaryFile, canary)
    siege = await Siege.begin()
    await git('init', { path: 'project' })
    await write('project/a.txt', 'one\n')
    assert.equal((await git('commit', { path: 'project', message: 'First' })).type, 'success')
  })
  afterEach(async () => {
    await siege.unharmed()
    assert.equal(existsSync(mark), false)
    assert.deepEqual(readdirSync(out), ['canary.txt'])
    assert.equal(readFileSync(canaryFile, 'utf8'), canary)
    // O8: the honest use beside it works.
    assert.equal((await git('status', { path: 'project' })).type, 'success')
  })
  afterAll(async () => {
    try {
      await siege.end()
    } finally {
      await siege[Symbol.asyncDispose]()
      rmSync(out, { recursive: true })
    }
  })

  test('G01 G02 an option in the place of a commit, a branch or a remote', async () => {
    const words = [
      `--output=${mark}`,
      `--upload-pack=touch ${mark}`,
      '-u',
      `--exec=touch ${mark}`,
      `-Otouch ${mark}`,
      '--no-index',
    ]
    for (const word of words) {
      const path = 'project'
      for (const [action, args] of [
        ['diff', { from: word }],
        ['diff', { to: word }],
        ['log', { ref: word }],
        ['show', { ref: word }],
        ['blame', { file: 'a.txt', ref: word }],
        ['merge', { ref: word }],
        ['restore', { files: ['a.txt'], source: word }],
        ['branch', { action: 'create', name: word }],
        ['branch', { action: 'create', name: 'x', start_point: word }],
        ['branch', { action: 'switch', name: word }],
        ['branch', { action: 'delete', name: word }],
      ] as const)
        expect([action, word, (await git(action, { path, ...args })).type]).toEqual([
          action,
          word,
          'InvalidRef',
        ])
      for (const action of ['pull', 'push'])
        expect((await git(action, { path, remote: word })).type).toBe('UrlNotAllowed')
    }
  })

  test('G03 addresses that are no https', async () => {
    for (const url of [
      `ext::sh -c touch% ${mark}`,
      `file://${out}`,
      out,
      'ssh://-oProxyCommand=x/y',
      'git://git.example/x',
      'http://127.0.0.1:7703/x',
      'https://u:p@git.example/x',
    ]) {
      expect((await git('clone', { url, path: 'new' })).type).toBe('UrlNotAllowed')
      expect((await git('push', { path: 'project', remote: url })).type).toBe('UrlNotAllowed')
      expect((await git('pull', { path: 'project', remote: url })).type).toBe('UrlNotAllowed')
    }
    expect(existsSync(at('new'))).toBe(false)
  })

  test('G04 places outside, links to them, and bare repositories', async () => {
    symlinkSync(out, at('link'))
    for (const path of [out, '..', '../../..', 'link', 'link/x', `${siege.alpha.workspace}-evil`]) {
      expect((await git('init', { path })).type).toBe('PathOutOfScope')
      expect((await git('status', { path })).type).toBe('PathOutOfScope')
    }
    mkdirSync(at('bare/objects'), { recursive: true })
    mkdirSync(at('bare/refs'))
    writeFileSync(at('bare/HEAD'), 'ref: refs/heads/main\n')
    writeFileSync(at('bare/config'), `[core]\n\tbare = true\n\tfsmonitor = touch ${mark}\n`)
    for (const action of ['status', 'log', 'diff'])
      expect((await git(action, { path: 'bare' })).type).toBe('UnsafeRepository')
  })

  test('G05 a configuration that names programs and places', async () => {
    const config = at('project/.git/config')
    const before = readFileSync(config, 'utf8')
    // An agent itself is not let near it.
    const tried = await write('project/.git/config', '[core]\n')
    expect(tried.result?.error?.type).toBe('ProtectedPath')
    await write('project/.gitattributes', '* filter=x diff=x\n')
    await write('project/a.txt', 'two\n')
    try {
      for (const [key, text] of [
        ['core.fsmonitor', `[core]\n\tfsmonitor = touch ${mark}\n`],
        ['filter.x.clean', `[filter "x"]\n\tclean = touch ${mark}\n`],
        ['filter.x.process', `[filter "x"]\n\tprocess = touch ${mark}\n`],
        ['diff.x.textconv', `[diff "x"]\n\ttextconv = touch ${mark}\n`],
        ['diff.external', `[diff]\n\texternal = touch ${mark}\n`],
        ['core.hookspath', `[core]\n\thooksPath = ${out}\n`],
        ['core.worktree', `[core]\n\tworktree = ${out}\n`],
        ['include.path', `[include]\n\tpath = ${canaryFile}\n`],
        ['credential.helper', `[credential]\n\thelper = !touch ${mark}\n`],
      ]) {
        writeFileSync(config, before + text)
        for (const [action, args] of [
          ['status', {}],
          ['diff', {}],
          ['commit', { message: 'x' }],
          ['log', {}],
          ['blame', { file: 'a.txt' }],
          ['branch', { action: 'switch', name: 'main' }],
          ['pull', { remote: 'https://git.example/x' }],
        ] as const) {
          const { type, text: said } = await git(action, { path: 'project', ...args })
          expect([action, key, type]).toEqual([action, key, 'UnsafeRepoConfig'])
          expect(said).toContain(key)
          expect(said).not.toContain(canary)
        }
      }
    } finally {
      writeFileSync(config, before)
    }
    expect((await git('commit', { path: 'project', message: 'Second' })).type).toBe('success')
  })

  test('G06 files beside the repository, and pathspecs', async () => {
    writeFileSync(at('beside.txt'), 'beside\n')
    await write('project/b.txt', 'b\n')
    for (const file of ['../beside.txt', 'a/../../beside.txt', canaryFile])
      for (const [action, args] of [
        ['commit', { message: 'x', files: [file] }],
        ['diff', { paths: [file] }],
        ['restore', { files: [file] }],
        ['blame', { file }],
        ['log', { file }],
      ] as const)
        expect((await git(action, { path: 'project', ...args })).type).toBe('PathOutOfScope')
    for (const file of [':(top)b.txt', ':/b.txt', ':(attr:x)b.txt', '*', ':!x'])
      expect((await git('commit', { path: 'project', message: 'x', files: [file] })).type).toBe(
        'NothingToCommit',
      )
  })

  test('G07 a lock that somebody left is told, and stays', async () => {
    const lock = at('project/.git/index.lock')
    writeFileSync(lock, '')
    await write('project/c.txt', 'c\n')
    const { type, text } = await git('commit', { path: 'project', message: 'x' })
    expect(type).toBe('RepoLocked')
    expect(text).toContain('recovery')
    expect(existsSync(lock)).toBe(true)
    rmSync(lock)
    expect((await git('commit', { path: 'project', message: 'Third' })).type).toBe('success')
  })

  test('every call of an agent is on record', async () => {
    const { entries } = await siege.gate.json<{
      entries: { detail: { sandbox?: string } | null; result: string }[]
    }>([...['audit', 'query', '--capability', 'git.commit', '--result', 'success']])
    expect(entries.length).toBeGreaterThan(2)
    for (const { detail } of entries) expect(detail?.sandbox).toBe('bubblewrap')
  })
})
