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
const factory = createFilesFactory({ ids: createIds(), clock: createClock(0) })
const files = () =>
  factory.open({ name: 'alpha', workspace, mounts: [{ path: mount, read_only: false }] })

beforeAll(() => {
  mkdirSync(join(workspace, 'scratch'), { recursive: true })
  mkdirSync(mount)
  writeFileSync(join(workspace, 'secret.txt'), 'x')
  symlinkSync('../secret.txt', join(workspace, 'scratch', 'link'))
  symlinkSync('..', join(workspace, 'scratch', 'up'))
  symlinkSync('/etc', join(workspace, 'scratch', 'out'))
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
  [`${workspace}/scratch/a`, 'scratch/a'],
  ['.', '.'],
])('%s leads to %s, whatever way it is written', (written, relative) => {
  const absolute = relative === '.' ? workspace : join(workspace, relative)
  expect(files().locate(written)).toEqual({ absolute, relative })
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
  [`${mount}/a`, true, true],
])(
  '%j is said to lie in the folders only where it does (read %s, written %s)',
  (path, read, written) => {
    expect([files().reaches(path, 'read'), files().reaches(path, 'write')]).toEqual([read, written])
  },
)
