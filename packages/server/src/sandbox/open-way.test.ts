import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { mayEnter, openWay } from './open-way.ts'

test.each([
  ['an owner by the first digit', 0o100, { uid: 7, gid: 1 }, true],
  ['an owner by no other', 0o077, { uid: 7, gid: 8 }, false],
  ['the group by the second', 0o010, { uid: 1, gid: 8 }, true],
  ['the group by no other', 0o707, { uid: 1, gid: 8 }, false],
  ['others by the last', 0o001, { uid: 1, gid: 1 }, true],
  ['others by no other', 0o770, { uid: 1, gid: 1 }, false],
] as const)('a folder lets in %s', (_, mode, owner, lets) => {
  expect(mayEnter({ ...owner, mode }, { uid: 7, gid: 8 })).toBe(lets)
})

const inFolder = () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-way-')))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const own = join(root, 'data')
  mkdirSync(join(own, 'workspaces', 'a'), { recursive: true, mode: 0o700 })
  chmodSync(root, 0o711)
  return { root, own, deep: join(own, 'workspaces', 'a') }
}
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
const somebody = { uid: 61_999, gid: 61_999, name: 'somebody' }

test.runIf(process.getuid?.() === 0)(
  'the folders of the service let one group through, and nobody look',
  () => {
    const { own, deep } = inFolder()
    openWay(own, deep, somebody)
    for (const path of [own, join(own, 'workspaces')]) {
      expect(modeOf(path)).toBe('710')
      expect(statSync(path)).toMatchObject({ uid: 0, gid: somebody.gid })
    }
    expect(modeOf(deep)).toBe('700')
  },
)

test.runIf(process.getuid?.() === 0)(
  'below a folder of the user nothing is changed: a link there may lead anywhere',
  () => {
    const { root, own, deep } = inFolder()
    const elsewhere = join(root, 'elsewhere')
    mkdirSync(elsewhere, { mode: 0o700 })
    symlinkSync(elsewhere, join(deep, 'link'))
    chownSync(deep, somebody.uid, somebody.gid)
    openWay(own, join(deep, 'link', 'x'), somebody)
    expect(modeOf(elsewhere)).toBe('700')
    expect(statSync(elsewhere).gid).not.toBe(somebody.gid)
    // Nor is a link followed where the folder around it is ours.
    symlinkSync(elsewhere, join(own, 'link'))
    openWay(own, join(own, 'link', 'x'), somebody)
    expect(modeOf(elsewhere)).toBe('700')
  },
)

test('a folder that is not of the service stays closed, and is named', () => {
  const { root, own, deep } = inFolder()
  chmodSync(root, 0o700)
  chmodSync(own, 0o711)
  chmodSync(join(own, 'workspaces'), 0o711)
  expect(() => openWay(own, deep, somebody)).toThrow(root)
  expect(modeOf(root)).toBe('700')
})
