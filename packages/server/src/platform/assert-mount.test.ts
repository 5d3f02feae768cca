import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { assertMount } from './assert-mount.ts'

const folders = () => {
  const base = mkdtempSync(join(tmpdir(), 'gatehouse-mount-'))
  onTestFinished(() => rmSync(base, { recursive: true }))
  const [data, work] = [join(base, 'home', 'data'), join(base, 'work')]
  mkdirSync(data, { recursive: true })
  mkdirSync(work)
  symlinkSync(data, join(work, 'link'))
  return { base, data, work }
}

test('the data of the service is no mount, nor what holds it, nor a link to it', () => {
  const { base, data, work } = folders()
  for (const path of [
    data,
    join(data, 'policies'),
    join(base, 'home'),
    join(work, 'link'),
    join(work, 'link/audit'),
  ])
    expect(() => assertMount(data, path)).toThrow('holds the data of the service itself')
})

test('interfaces of the system, the whole machine and relative paths are no mounts', () => {
  const { data } = folders()
  for (const path of ['/proc/self', '/sys', '/dev/shm', '/', 'work', '/srv/../etc'])
    expect(() => assertMount(data, path)).toThrow(`the mount ${path}`)
})

test('any other folder is, also one beside it and one that is not there yet', () => {
  const { base, data, work } = folders()
  for (const path of [work, `${data}-other`, join(base, 'later')]) assertMount(data, path)
})
