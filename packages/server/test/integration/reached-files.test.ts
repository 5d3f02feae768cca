import { existsSync, writeFileSync } from 'node:fs'
import type { GatehouseEvent } from '@gatehouse/contract'
import { hasProgram } from '@gatehouse/testkit/programs'
import { until } from '@gatehouse/testkit/until'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { canary, PlacesKit } from './places-kit.ts'

describe.skipIf(!hasProgram('bwrap'))(
  'what policy keeps from a call is not reached from above',
  () => {
    let kit: PlacesKit

    beforeEach(async () => {
      kit = await PlacesKit.open()
      kit.put('own/a.txt', 'text of a')
      kit.put('secret/f.txt', `text ${canary}`)
      kit.put('secret/deep/g.txt', `text ${canary}`)
    })
    afterEach(async () => {
      await kit[Symbol.asyncDispose]()
    })

    const dataOf = async (capability: string, args: object): Promise<Record<string, unknown>> => {
      const outcome = await kit.call(capability, args)
      if (outcome.kind !== 'succeeded') throw new Error(JSON.stringify(outcome))
      expect(JSON.stringify(outcome.data)).not.toContain('secret')
      expect(JSON.stringify(outcome.data)).not.toContain(canary)
      return { ...outcome.data }
    }
    test('a listing leaves it out, and counts it', async () => {
      const listed = await dataOf('filesystem.list', { path: '.' })
      expect(listed).toMatchObject({ total: 1, withheld: 1, truncated: false })
      expect(listed['entries']).toMatchObject([{ name: 'own' }])
    })

    test('searches leave it out, and count it', async () => {
      expect(await dataOf('filesystem.search', { path: '.', pattern: '**' })).toMatchObject({
        total_matches: 2,
        withheld: 1,
      })
      const grouped = { path: '.', pattern: '**', aggregate: { dedupe: true } }
      expect(await dataOf('filesystem.search', grouped)).toMatchObject({
        total_matches: 1,
        withheld: 1,
      })
      expect(
        await dataOf('filesystem.search_content', { path: '.', pattern: 'text' }),
      ).toMatchObject({
        total: 1,
        files_searched: 1,
        withheld: 1,
      })
    })

    test('an edit of a tree leaves it alone', async () => {
      const edit = { root: '.', include_glob: '*.txt', pattern: 'text', replace: 'mine' }
      expect(await dataOf('filesystem.edit', edit)).toMatchObject({
        files: [{ path: kit.at('own/a.txt') }],
        withheld: 1,
      })
      expect(kit.below('secret')).toMatchObject({ [kit.at('secret/f.txt')]: `text ${canary}` })
    })

    test('a rule about one kind of file is asked of each file', async () => {
      const keys = 'has(args.path) && args.path.endsWith(".key")'
      await using other = await PlacesKit.open(`version: 1
rules:
  - { match: "filesystem.*", when: '${keys}', tier: blocked, floor: true }
  - { match: "*", tier: autonomous }
`)
      for (const name of ['a/one.txt', 'a/two.key', 'b/three.key']) other.put(name, canary)
      const found = await other.call('filesystem.search_content', { path: '.', pattern: canary })
      expect(found).toMatchObject({ kind: 'succeeded', data: { total: 1, withheld: 2 } })
    })

    test('a tree that holds it is not copied, moved or deleted, whichever side it is on', async () => {
      await using other = await PlacesKit.open(`version: 1
rules:
${['path', 'source', 'destination']
  .map(
    (name) =>
      `  - { match: "*", when: 'has(args.${name}) && args.${name}.contains("/secret/")', tier: blocked, floor: true }`,
  )
  .join('\n')}
  - { match: "*", tier: autonomous }
`)
      other.put('tree/secret/f.txt', canary)
      other.put('plain/f.txt', 'plain')
      other.put('plain/sub/secret/x', 'x')
      const calls: readonly (readonly [string, object])[] = [
        ['filesystem.copy', { source: 'tree', destination: 'copy' }],
        ['filesystem.move', { source: 'tree', destination: 'moved' }],
        ['filesystem.move', { source: 'tree/secret', destination: 'moved' }],
        ['filesystem.delete', { path: 'tree', recursive: true }],
        ['filesystem.copy', { source: 'plain', destination: 'copy' }],
      ]
      const before = other.below('.')
      for (const [capability, args] of calls) {
        const outcome = await other.call(capability, args)
        expect([capability, outcome]).toMatchObject([
          capability,
          { kind: 'failed', error: { type: 'PathNotPermitted' } },
        ])
      }
      expect(other.below('.')).toEqual(before)
      other.put('fine/f.txt', 'fine')
      for (const [capability, args] of [
        ['filesystem.copy', { source: 'fine', destination: 'copy' }],
        ['filesystem.move', { source: 'fine', destination: 'moved' }],
        ['filesystem.delete', { path: 'moved', recursive: true }],
      ] as const)
        expect((await other.call(capability, args)).kind).toBe('succeeded')
    })

    test('a tree does not come to lie in it', async () => {
      const named = `version: 1
rules:
  - { match: "*", when: 'has(args.destination) && args.destination.endsWith("private/a.txt")', tier: blocked, floor: true }
  - { match: "*", tier: autonomous }
`
      await using other = await PlacesKit.open(named)
      other.put('own/a.txt', 'a')
      for (const capability of ['filesystem.copy', 'filesystem.move']) {
        const outcome = await other.call(capability, { source: 'own', destination: 'private' })
        expect(outcome).toMatchObject({ kind: 'failed', error: { type: 'PathNotPermitted' } })
      }
      expect(existsSync(other.at('private'))).toBe(false)
      expect(existsSync(other.at('own/a.txt'))).toBe(true)
    })

    test('a watch tells nothing of it, as policy stands when it changes', async () => {
      const events: GatehouseEvent[] = []
      using _listening = kit.kit.app.subscribeEvents('alpha', (event) => {
        events.push(event)
        return true
      })
      const { watch_id } = await dataOf('filesystem.watch', { path: '.', recursive: true })
      writeFileSync(kit.at('secret/f.txt'), 'changed')
      writeFileSync(kit.at('secret/new.txt'), 'new')
      writeFileSync(kit.at('own/new.txt'), 'new')
      await until(() => events.length > 0)
      expect(events.map(({ data }) => data['path'])).toEqual([kit.at('own/new.txt')])
      expect(await dataOf('filesystem.unwatch', { watch_id })).toMatchObject({ stopped: true })
    })

    test('where no rule reads a path, nothing is left out', async () => {
      await using free = await PlacesKit.open(
        'version: 1\nrules: [{ match: "*", tier: autonomous }]\n',
      )
      free.put('secret/f.txt', canary)
      const found = await free.call('filesystem.search_content', { path: '.', pattern: canary })
      expect(found).toMatchObject({ kind: 'succeeded', data: { total: 1, withheld: 0 } })
    })
  },
)
