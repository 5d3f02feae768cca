import { expect, test } from 'vitest'
import { accessOf, rulesetOf, systemRules, weakened } from './landlock-rules.ts'
import type { SystemView } from './system-view.ts'

const bit = (n: number): number => 1 << n
// Numbers of linux/landlock.h.
const [execute, write, read, list] = [bit(0), bit(1), bit(2), bit(3)]
const [truncate, control] = [bit(14), bit(15)]
const devices = bit(6) | bit(11)

test('refuses everything that no rule allows: files, ports, hidden names and signals', () => {
  expect(rulesetOf()).toEqual({ paths: 0xffff, ports: 0b11, scoped: 0b11 })
  expect(rulesetOf(['paths'])).toEqual({ paths: 0, ports: 0b11, scoped: 0b11 })
  expect(rulesetOf(['ports', 'signals'])).toEqual({ paths: 0xffff, ports: 0, scoped: 0b01 })
  expect(rulesetOf(['abstract', 'calls'])).toEqual({ paths: 0xffff, ports: 0b11, scoped: 0b10 })
})

test('lets a folder be read and run, and written only where it was given so; never a device in it', () => {
  const folder = (writable: boolean) => accessOf({ isFolder: true, writable })
  expect(folder(false)).toBe(execute | read | list)
  expect(folder(true) & (write | truncate | read | list)).toBe(write | truncate | read | list)
  expect(folder(true) & (devices | control)).toBe(0)
})

test('asks of a file only for what the kernel knows of files', () => {
  const file = (writable: boolean) => accessOf({ isFolder: false, writable })
  expect(file(false)).toBe(execute | read)
  expect(file(true)).toBe(execute | read | write | truncate)
})

const view: SystemView = {
  links: [{ path: '/bin', target: 'usr/bin' }],
  folders: ['/usr', '/lib64'],
  shown: ['/etc/ssl/certs', '/etc/ld.so.cache'],
  copied: ['/etc/localtime'],
}

test('of the system lets nothing be written but devices that keep nothing', () => {
  const rules = systemRules(view)
  const writable = rules.filter(({ access }) => (access & ~(execute | read | list)) !== 0)
  expect(writable.map(({ path }) => path)).toEqual(['/dev/null', '/dev/zero', '/dev/full'])
  const runnable = rules.filter(({ access }) => (access & execute) !== 0)
  expect(runnable.map(({ path }) => path)).toEqual(['/usr', '/lib64'])
})

test('tells of no process, account, name or mount of the machine', () => {
  const paths = systemRules(view).map(({ path }) => path)
  expect(paths).not.toContain('/')
  expect(paths.filter((path) => /^\/(home|root|run|var|tmp|srv|boot)/.test(path))).toEqual([])
  for (const file of ['/proc', '/proc/self', '/etc', '/etc/passwd', '/etc/hosts', '/dev', '/sys'])
    expect(paths).not.toContain(file)
})

test('finds what is read-only in a folder that is not, whatever the order', () => {
  const outer = { path: '/srv/alpha', writable: true }
  const inner = { path: '/srv/alpha/inner', writable: false }
  expect(weakened([inner, outer])).toBe(inner)
  expect(weakened([outer, inner])).toBe(inner)
  expect(weakened([outer, { path: '/srv/alphabet', writable: false }])).toBeUndefined()
  const within = { path: '/srv/alpha/inner', writable: true }
  expect(weakened([{ path: '/srv/alpha', writable: false }, within])).toBeUndefined()
})
