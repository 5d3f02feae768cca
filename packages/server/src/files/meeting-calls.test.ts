import {
  closeSync,
  existsSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { typeOf } from '../../test/kit/type-of.ts'
import { takeBack } from './append.ts'
import { openFiles as open } from './testing.ts'

// Calls that meet each other, or a change from elsewhere, on one file.

const day = 24 * 60 * 60 * 1000
const bytes = (text: string): Buffer => Buffer.from(text)
const trashOf = (kit: { readonly at: (name: string) => string }) => kit.at('.gatehouse-trash')

test('an append that meets another one, or a new file in the place of the old, is lost to neither', async () => {
  using kit = open()
  kit.put('names', '0\n')
  linkSync(kit.at('names'), kit.at('second name'))
  await Promise.all(['1\n', '2\n', '3\n'].map((line) => kit.files.append('names', bytes(line))))
  expect(kit.get('names').trim().split('\n').toSorted()).toEqual(['0', '1', '2', '3'])
  expect(kit.get('second name')).toBe('0\n')

  kit.put('log', '0\n')
  kit.put('next', 'new\n')
  const appending = kit.files.append('log', bytes('1\n'))
  renameSync(kit.at('next'), kit.at('log'))
  expect(await appending).toMatchObject({ size_bytes: 6 })
  expect(kit.get('log')).toBe('new\n1\n')

  // A file that got another name keeps the line, which is in no other then.
  const rotating = kit.files.append('log', bytes('2\n'))
  renameSync(kit.at('log'), kit.at('log.1'))
  await rotating
  expect([kit.get('log.1'), existsSync(kit.at('log'))]).toEqual(['new\n1\n2\n', false])
})

test('a part of an append is taken back only where nobody added to it', () => {
  using kit = open()
  kit.put('log', 'before, part')
  const fd = openSync(kit.at('log'), 'r+')
  try {
    // Another append of five bytes; nothing, or a part of ours, was written.
    takeBack(fd, 7, 0)
    takeBack(fd, 7, 3)
    expect(kit.get('log')).toBe('before, part')
    takeBack(fd, 7, 5)
    expect(kit.get('log')).toBe('before,')
  } finally {
    closeSync(fd)
  }
})

test('what a person agreed to see replaced is replaced, and nothing that came there meanwhile', async () => {
  using kit = open()
  kit.put('a', 'a')
  const bound = await kit.files.fingerprint('a')
  const stream = async function* (before: () => void) {
    yield bytes('new')
    before()
  }
  const options = { createParents: false, mustBeNew: false, bound }
  const download = kit.files.writeStream(
    'a',
    stream(() => kit.put('a', 'other')),
    options,
  )
  expect(await typeOf(download)).toBe('ApprovalStale')
  expect([kit.get('a'), readdirSync(kit.root)]).toEqual(['other', ['a']])
  const again = { ...options, bound: await kit.files.fingerprint('a') }
  await kit.files.writeStream(
    'a',
    stream(() => {}),
    again,
  )
  expect(kit.get('a')).toBe('new')
})

test('what is being deleted for good cannot be restored any more, nor what is restored be deleted', async () => {
  using kit = open()
  const names = Array.from({ length: 20 }, (_, i) => `tree/${i}`)
  for (const name of names) kit.put(name, name)
  const { trash_id } = await kit.files.trash('tree', { recursive: true })
  kit.time.now += 8 * day
  kit.put('x', 'x')
  // Whoever deletes or looks through a tree gives way after each of its entries.
  let now = 0
  using _slow = vi.spyOn(performance, 'now').mockImplementation(() => (now += 10))
  const left = () =>
    ['tree', `going-${trash_id}`, `${trash_id}/item`].flatMap((folder) =>
      [kit.at(folder), kit.at(`.gatehouse-trash/${folder}`)]
        .filter((at) => existsSync(at))
        .flatMap((at) => readdirSync(at)),
    ).length
  const sweeping = kit.files.trash('x', { recursive: false })
  while (left() === names.length) await setImmediate()
  const isRestored = await kit.files.restore(trash_id).then(
    () => true,
    () => false,
  )
  await sweeping
  expect([isRestored, left()]).toEqual([false, 0])
  expect(readdirSync(kit.at('.gatehouse-trash'))).toHaveLength(1)
})

test('a thing in the trash that cannot be deleted keeps nothing else in it', async () => {
  const errors: unknown[] = []
  using kit = open({ onSweepError: (error) => errors.push(error) })
  kit.put('a', 'a')
  kit.put('b', 'b')
  for (const name of ['a', 'b']) await kit.files.trash(name, { recursive: false })
  // The one that is looked at first is no folder, as all things in the trash are.
  const [stuck] = readdirSync(trashOf(kit)).toSorted() as [string]
  rmSync(path.join(trashOf(kit), stuck), { recursive: true })
  writeFileSync(path.join(trashOf(kit), stuck), '')
  kit.time.now += 8 * day
  using next = kit.create()
  next.open(kit.agent)
  await expect.poll(() => errors).toHaveLength(1)
  expect(errors).toMatchObject([{ type: 'ProtectedPath' }])
  expect(readdirSync(trashOf(kit))).toEqual([stuck])
})

test('what a sweep takes away while it is looked through to be restored is not in the trash', async () => {
  using kit = open()
  kit.put('tree/sub/x', 'x')
  const { trash_id } = await kit.files.trash('tree', { recursive: true })
  const permits = ({ relative }: { readonly relative: string }) => {
    if (relative === 'tree/sub')
      rmSync(path.join(trashOf(kit), trash_id, 'item'), { recursive: true })
    return true
  }
  const reaching = kit.factory.open(kit.agent, { permits, reads: () => true, writes: () => true })
  expect(await typeOf(reaching.restore(trash_id))).toBe('TrashNotFound')
})

test('a watch goes on where the mounts of its agent change, for as long as it is about one of them', async () => {
  using kit = open({ mount: true })
  kit.put('docs/a', '1')
  const told: string[] = []
  const note = ({ path: at }: { path: string }) => told.push(path.basename(at))
  using _own = await kit.files.watch('docs', { recursive: true }, note)
  using _mount = await kit.files.watch(kit.other, { recursive: true }, note)
  const next = kit.factory.open({ ...kit.agent, mounts: [] })
  writeFileSync(path.join(kit.other, 'b'), '1')
  kit.put('docs/c', '1')
  await expect.poll(() => told).toEqual(['c'])
  using _control = await next.watch('docs', { recursive: true }, note)
  kit.put('docs/d', '1')
  await expect.poll(() => told).toEqual(['c', 'd', 'd'])
})
