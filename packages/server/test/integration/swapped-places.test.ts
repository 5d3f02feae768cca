import { once } from 'node:events'
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { hasProgram } from '@gatehouse/testkit/programs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { InvokeOutcome } from '../../src/app/call/invoke.ts'
import { standardCapabilities } from '../../src/capabilities/standard.ts'
import { startSwapper } from '../kit/start-swapper.ts'
import { canary, PlacesKit } from './places-kit.ts'

const full = process.env['GATEHOUSE_FULL'] === '1'
const noReal = !hasProgram('git') || !hasProgram('bwrap')

type Case = readonly [capability: string, args: object]

/** `dir` is a folder of the agent, and a link into the blocked folder by the time that the call acts. */
const reading: readonly Case[] = [
  ['filesystem.read', { path: 'dir/f.txt' }],
  ['filesystem.stat', { path: 'dir/f.txt' }],
  ['filesystem.list', { path: 'dir' }],
  ['filesystem.search', { path: 'dir', pattern: '**' }],
  ['filesystem.search_content', { path: 'dir', pattern: 'CANARY' }],
  ['filesystem.search_content', { path: 'dir/f.txt', pattern: 'CANARY' }],
  ['filesystem.watch', { path: 'dir', recursive: true }],
  ['filesystem.copy', { source: 'dir/f.txt', destination: 'out/f.txt' }],
  ['filesystem.copy', { source: 'dir/sub', destination: 'out/sub' }],
  ['mailing.attach', { attachments: ['own.txt', 'dir/f.txt'] }],
]
const writing: readonly Case[] = [
  ['filesystem.write', { path: 'dir/f.txt', content: 'mine' }],
  ['filesystem.write', { path: 'dir/new/deep/x.txt', content: 'mine', create_parents: true }],
  ['filesystem.append', { path: 'dir/f.txt', content: 'mine' }],
  ['filesystem.edit', { path: 'dir/f.txt', pattern: 'text', replace: 'mine' }],
  ['filesystem.edit', { root: 'dir', include_glob: 'f.txt', pattern: 'text', replace: 'mine' }],
  ['filesystem.copy', { source: 'own.txt', destination: 'dir/copy.txt' }],
  ['filesystem.move', { source: 'own.txt', destination: 'dir/moved.txt' }],
  ['filesystem.move', { source: 'dir/f.txt', destination: 'out/f.txt' }],
  ['filesystem.move', { source: 'dir/sub', destination: 'out/sub' }],
  ['filesystem.delete', { path: 'dir/f.txt' }],
  ['filesystem.delete', { path: 'dir/sub', recursive: true }],
  ['filesystem.mkdir', { path: 'dir/made' }],
  ['filesystem.mkdir', { path: 'dir/made/deep', parents: true }],
  ['network.download', { url: 'https://example.org/x', path: 'dir/x.bin' }],
]
const programs: readonly Case[] = [
  ['process.run', { command: 'cat', args: ['f.txt'], working_directory: 'dir' }],
]
const repositories: readonly Case[] = [
  ['git.status', { path: 'dir/repo' }],
  ['git.diff', { path: 'dir/repo' }],
  ['git.log', { path: 'dir/repo' }],
  ['git.show', { path: 'dir/repo' }],
  ['git.blame', { path: 'dir/repo', file: 'f.txt' }],
  ['git.commit', { path: 'dir/repo', message: 'Mine' }],
  ['git.branch', { path: 'dir/repo', action: 'create', name: 'mine' }],
  ['git.merge', { path: 'dir/repo', ref: 'main' }],
  ['git.restore', { path: 'dir/repo', files: ['.'] }],
  ['git.init', { path: 'dir/made' }],
  ['git.pull', { path: 'dir/repo', remote: 'https://example.org/x.git' }],
  ['git.push', { path: 'dir/repo', remote: 'https://example.org/x.git' }],
]
const all = [...reading, ...writing, ...programs, ...repositories]

/** The mail capabilities read theirs as `mailing.attach` does; a clone asks the network before its folder. */
const elsewhere = new Set([
  'email.send',
  'email.reply',
  'email.forward',
  'email.draft',
  'git.clone',
])

test('every capability that takes a path is among those that are tried', () => {
  const tried = new Set(all.map(([name]) => name))
  // What a client performs opens no file here.
  const missing = standardCapabilities
    .filter(({ performer }) => performer === 'service')
    .filter(({ name, paths }) => paths.length > 0 && !tried.has(name) && !elsewhere.has(name))
    .map(({ name }) => name)
  expect(missing).toEqual([])
})

describe.skipIf(noReal)('a folder that becomes a link between the decision and the act', () => {
  let kit: PlacesKit

  beforeEach(async () => {
    kit = await PlacesKit.open()
    kit.put('own.txt', 'own text')
    kit.put('out/here.txt', 'here')
    for (const folder of ['dir', 'secret']) {
      kit.put(`${folder}/f.txt`, folder === 'dir' ? 'some text' : `text ${canary}`)
      kit.put(`${folder}/sub/g.txt`, folder === 'dir' ? 'some text' : `text ${canary}`)
    }
  })
  afterEach(async () => {
    await kit[Symbol.asyncDispose]()
  })

  const swap = () => {
    renameSync(kit.at('dir'), kit.at('away'))
    symlinkSync('secret', kit.at('dir'))
  }

  const makeRepositories = () => {
    for (const folder of ['dir', 'secret']) {
      kit.put(`${folder}/repo/f.txt`, folder)
      kit.repository(`${folder}/repo`)
      kit.put(`${folder}/repo/f.txt`, `changed ${folder === 'dir' ? '' : canary}`)
    }
  }

  test.each(all)('%s %j touches nothing of it', async (capability, args) => {
    if (capability.startsWith('git.')) makeRepositories()
    const before = kit.below('secret')
    kit.between(swap)
    const outcome = await kit.call(capability, args)
    expect(JSON.stringify(outcome)).not.toContain(canary)
    expect(outcome).toMatchObject({ kind: 'failed', error: { type: 'PathNotPermitted' } })
    expect(kit.below('secret')).toEqual(before)
  })

  const offline = new Set(['git.pull', 'git.push'])
  test.each(all.filter(([name]) => !offline.has(name)))(
    '%s %j works where nothing is swapped',
    async (capability, args) => {
      if (capability.startsWith('git.')) makeRepositories()
      expect(await kit.call(capability, args)).toMatchObject({ kind: 'succeeded' })
    },
  )

  test('what was deleted is not brought back into it', async () => {
    const deleted = await kit.call('filesystem.delete', { path: 'dir/f.txt' })
    const trash_id = deleted.kind === 'succeeded' ? deleted.data['trash_id'] : ''
    const before = kit.below('secret')
    swap()
    const restored = await kit.call('filesystem.restore', { trash_id })
    expect(restored).toMatchObject({ kind: 'failed', error: { type: 'PathNotPermitted' } })
    expect(kit.below('secret')).toEqual(before)
  })

  describe('of a call that a person approves', () => {
    const asking = `version: 1
rules:
  - { match: "*", when: 'has(args.path) && args.path.startsWith("free")', tier: autonomous }
  - { match: "*", tier: approval_required }
`
    let asked: PlacesKit
    beforeEach(async () => {
      asked = await PlacesKit.open(asking)
      for (const folder of ['dir', 'other', 'free']) asked.put(`${folder}/f.txt`, folder)
    })
    afterEach(async () => {
      await asked[Symbol.asyncDispose]()
    })
    const lead = (to: string) => {
      renameSync(asked.at('dir'), asked.at(`was-${to}`))
      symlinkSync(to, asked.at('dir'))
    }
    const making = ['filesystem.mkdir', { path: 'dir/made' }] as const

    test('it is refused where its path leads elsewhere by then', async () => {
      const id = await asked.kit.pending('alpha', ...making)
      lead('other')
      await expect(asked.kit.decide(id, 'approve')).rejects.toMatchObject({
        type: 'ApprovalStale',
      })
      expect(existsSync(asked.at('other/made'))).toBe(false)
    })

    test('it runs where its path leads to what was approved', async () => {
      const id = await asked.kit.pending('alpha', ...making)
      await asked.kit.decide(id, 'approve')
      expect((await asked.kit.resolved('alpha', id)).result).toMatchObject({ success: true })
      expect(existsSync(asked.at('dir/made'))).toBe(true)
    })

    test('a grant for the same arguments is one for the same places', async () => {
      const id = await asked.kit.pending('alpha', ...making)
      await asked.kit.decide(id, 'approve', {
        remember: { match: 'same_arguments', ttl_seconds: 3600, uses: 10 },
      })
      await asked.kit.resolved('alpha', id)
      // The first identical call is handed what became of the request.
      for (const _ of [1, 2]) expect((await asked.call(...making)).kind).toBe('succeeded')
      lead('other')
      expect((await asked.call(...making)).kind).toBe('pending')
      expect(existsSync(asked.at('other/made'))).toBe(false)
    })

    test('it is let go on elsewhere only where nobody has to be asked', async () => {
      const id = await asked.kit.pending('alpha', 'filesystem.read', { path: 'dir/f.txt' })
      lead('free')
      await expect(asked.kit.decide(id, 'approve')).rejects.toMatchObject({
        type: 'ApprovalStale',
      })
      asked.between(() => {
        rmSync(asked.at('dir'))
        symlinkSync('other', asked.at('dir'))
      })
      const swapped = await asked.call('filesystem.read', { path: 'dir/f.txt' })
      expect(swapped).toMatchObject({ kind: 'failed', error: { type: 'PathNotPermitted' } })
    })
  })

  test('a link is deleted and moved as itself, wherever it leads', async () => {
    symlinkSync('../own.txt', kit.at('secret/link'))
    symlinkSync('secret/f.txt', kit.at('own-link'))
    const denied = await kit.call('filesystem.delete', { path: 'secret/link' })
    expect(denied.kind).toBe('denied')
    const deleted = await kit.call('filesystem.delete', { path: 'own-link' })
    expect(deleted).toMatchObject({ kind: 'succeeded', data: { path: kit.at('own-link') } })
  })

  /** The same calls again and again: what they take away they put back, and `out` is looked through and emptied. */
  const inTurn = (round: number): readonly Case[] => [
    ['filesystem.write', { path: 'own.txt', content: 'own text' }],
    ['filesystem.write', { path: 'dir/sub/g.txt', content: 'some text', create_parents: true }],
    ['filesystem.write', { path: 'dir/f.txt', content: 'some text' }],
    ...Array.from({ length: full ? 4 : 1 }, () =>
      reading.filter(([name]) => name !== 'filesystem.watch' && name !== 'filesystem.copy'),
    ).flat(),
    ['filesystem.copy', { source: 'dir/f.txt', destination: 'out/f.txt' }],
    ['filesystem.copy', { source: 'dir/sub', destination: 'out/sub' }],
    ['filesystem.copy', { source: 'own.txt', destination: 'dir/copy.txt', overwrite: true }],
    ['filesystem.append', { path: 'dir/f.txt', content: 'mine' }],
    ['filesystem.edit', { path: 'dir/f.txt', pattern: 'text', replace: 'mine' }],
    ['filesystem.edit', { root: 'dir', include_glob: 'f.txt', pattern: 'some', replace: 'mine' }],
    ['filesystem.mkdir', { path: `dir/made/${round}`, parents: true }],
    ['filesystem.delete', { path: 'dir/made', recursive: true }],
    ['filesystem.move', { source: 'own.txt', destination: 'dir/moved.txt', overwrite: true }],
    ['filesystem.move', { source: 'dir/f.txt', destination: 'out/g.txt' }],
    ['filesystem.move', { source: 'dir/sub', destination: 'out/moved' }],
    ['network.download', { url: 'https://example.org/x', path: 'dir/x.bin', overwrite: true }],
  ]

  /** 100,000 calls in the long form, reads and writes in turn, while `dir` changes as fast as it can. */
  test('nothing of it is touched while it is swapped all the time', async () => {
    const calls = full ? 100_000 : 200
    const until = performance.now() + 120_000
    const before = kit.below('secret')
    symlinkSync('secret', kit.at('link'))
    const swapper = await startSwapper(kit.at('dir'), kit.at('link'))
    const seen = { calls: 0, succeeded: 0, denied: 0, not_permitted: 0, failed: 0, escaped: 0 }
    const both = () => seen.succeeded > 20 && seen.denied > 20 && seen.not_permitted > 0
    const note = (outcome: InvokeOutcome) => {
      seen.calls++
      if (JSON.stringify(outcome).includes(canary)) seen.escaped++
      if (outcome.kind === 'succeeded' || outcome.kind === 'denied') seen[outcome.kind]++
      else if (outcome.kind === 'failed')
        seen[outcome.error.type === 'PathNotPermitted' ? 'not_permitted' : 'failed']++
    }
    try {
      for (let round = 0; seen.calls < calls || !(both() || performance.now() > until); round++) {
        for (const [capability, args] of inTurn(round)) note(await kit.call(capability, args))
        if (JSON.stringify(kit.below('out')).includes(canary)) seen.escaped++
        rmSync(kit.at('out'), { recursive: true })
        mkdirSync(kit.at('out'))
        kit.kit.clock.move(60_000)
      }
    } finally {
      swapper.kill('SIGKILL')
      await once(swapper, 'close')
    }
    if (full) process.stderr.write(`${JSON.stringify(seen)}\n`)
    expect(kit.below('secret')).toEqual(before)
    expect(seen.escaped).toBe(0)
    // The swap was met as a folder, as a link by the decision, and as a link by the act alone.
    expect(both()).toBe(true)
  }, 7_200_000)
})
