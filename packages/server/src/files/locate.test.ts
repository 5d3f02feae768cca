import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClock } from '../platform/clock.ts'
import { createIds } from '../platform/ids.ts'
import { createFilesFactory } from './create-files-factory.ts'

const base = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-locate-')))
const workspace = join(base, 'work')
const mount = join(base, 'mount')
/** Given, and not there. */
const later = join(base, 'later')
/** Names of tests stay the same, wherever the folders are. */
const placed = (path: string): string =>
  path.replace('WORK', workspace).replace('MOUNT', mount).replace('LATER', later)
const factory = createFilesFactory({ ids: createIds(), clock: createClock(0) })
const files = () =>
  factory.open({
    name: 'alpha',
    workspace,
    mounts: [mount, later].map((path) => ({ path, read_only: false })),
  })

beforeAll(() => {
  mkdirSync(join(workspace, 'scratch'), { recursive: true })
  mkdirSync(mount)
  writeFileSync(join(workspace, 'secret.txt'), 'x')
  symlinkSync('../secret.txt', join(workspace, 'scratch', 'link'))
  symlinkSync('..', join(workspace, 'scratch', 'up'))
  symlinkSync('/etc', join(workspace, 'scratch', 'out'))
  symlinkSync('../to-be', join(workspace, 'scratch', 'dangling'))
})
afterAll(() => {
  factory[Symbol.dispose]()
  rmSync(base, { recursive: true, force: true })
})

test.each([
  ['secret.txt', 'secret.txt'],
  ['scratch/a', 'scratch/a'],
  ['./scratch//a', 'scratch/a'],
  ['scratch/../secret.txt', 'secret.txt'],
  ['scratch/missing/../../secret.txt', 'secret.txt'],
  ['scratch/link', 'secret.txt'],
  ['scratch/up/secret.txt', 'secret.txt'],
  ['scratch/up/new/file', 'new/file'],
  ['scratch/dangling', 'to-be'],
  ['scratch/dangling/a/b', 'to-be/a/b'],
  ['WORK/scratch/a', 'scratch/a'],
  ['.', '.'],
])('%s leads to %s, whatever way it is written', (written, relative) => {
  const absolute = relative === '.' ? workspace : join(workspace, relative)
  expect(files().locate(placed(written))).toEqual({ absolute, relative })
})

test('a link that is meant itself is told where it stands', () => {
  const told = (path: string) => files().locate(path, { entry: true }).relative
  expect(told('scratch/link')).toBe('scratch/link')
  expect(told('scratch/up/scratch/link')).toBe('scratch/link')
})

test('a path in a mount is absolute in both forms', () => {
  const path = join(mount, 'a')
  expect(files().locate(path)).toEqual({ absolute: path, relative: path })
})

test.each(['/etc/passwd', '../../etc/passwd', '', 'a\0b'])('%j does not raise', (path) => {
  expect(files().locate(path).absolute).toMatch(/^\//)
})

test('what a path is said not to lead to, it does not lead to', () => {
  const written = [
    ...['secret.txt', 'scratch/link', 'scratch/up/new/file', 'missing/a', '../mount/a', '.', ''],
    ...[`${workspace}/scratch/a`, `${mount}/a`, '/etc/passwd', '../../etc/passwd', `${base}/../x`],
  ]
  const beginnings = written.flatMap((path) => {
    const { absolute } = files().locate(path)
    return Array.from(absolute, (_, i) => absolute.slice(0, i + 1))
  })
  let ruledOut = 0
  for (const path of written)
    for (const beginning of [...beginnings, '/never/', '/etc/shadow', `${mount}/b/c`]) {
      if (files().canLeadTo(path, beginning)) continue
      ruledOut++
      expect([path, beginning, files().locate(path).absolute.startsWith(beginning)]).toEqual([
        path,
        beginning,
        false,
      ])
    }
  expect(ruledOut).toBeGreaterThan(100)
  expect(files().canLeadTo('secret.txt', '/never/')).toBe(false)
  expect(files().canLeadTo('/never/a', '/never/')).toBe(true)
  expect(files().canLeadTo('/etc/passwd', '/never/')).toBe(false)
})

test.each([
  ['secret.txt', true, true],
  ['missing/new/file', true, true],
  ['.', true, true],
  ['scratch/link', true, true],
  ['scratch/out', false, false],
  ['scratch/out/new', false, false],
  ['../mount/a', false, false],
  ['/etc/passwd', false, false],
  ['/etc/not-there', false, false],
  ['', false, false],
  ['.git/config', true, false],
  ['MOUNT/a', true, true],
  ['LATER/a/b', false, false],
])(
  '%j is said to lie in the folders only where it does (read %s, written %s)',
  (given, read, written) => {
    const path = placed(given)
    expect([files().reaches(path, 'read'), files().reaches(path, 'write')]).toEqual([read, written])
  },
)
