import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTemporaryFolder } from '@gatehouse/testkit/temporary-folder'
import { expect, test } from 'vitest'
import { asNextStep } from './as-next-step.ts'
import { createNextStep, programName } from './next-step.ts'

function createCheckout() {
  const root = makeTemporaryFolder()
  const script = join(root, 'gatehouse.js')
  writeFileSync(script, '')
  const npmBin = join(root, 'node_modules', '.bin')
  const bin = join(root, 'bin')
  for (const folder of [npmBin, bin]) {
    mkdirSync(folder, { recursive: true })
    symlinkSync(script, join(folder, 'gatehouse'))
  }
  return { root, script, npmBin, bin }
}

test('names the program as another terminal finds it', () => {
  const { root, script, npmBin, bin } = createCheckout()
  expect(programName(script, { PATH: bin }, '/')).toBe('gatehouse')
  expect(programName(join(npmBin, 'gatehouse'), { PATH: npmBin }, root)).toBe('npx gatehouse')
  expect(programName(script, { PATH: npmBin }, '/')).toBe(`node ${script}`)
})

test('names the package that npx fetched, and not a cache that may be emptied', () => {
  const root = makeTemporaryFolder()
  const folder = join(root, '_npx', '3043ffb9', 'node_modules', 'gatehoused', 'bin')
  const script = join(folder, 'gatehouse.js')
  mkdirSync(folder, { recursive: true })
  writeFileSync(script, '')
  expect(programName(script, { PATH: '/usr/bin' }, '/')).toBe('npx gatehoused')
  const checkout = createCheckout()
  expect(programName(checkout.script, { PATH: '/usr/bin' }, '/')).not.toContain('npx')
})

test('names another program of this name by nothing but its own path', () => {
  const [own, other] = [createCheckout(), createCheckout()]
  expect(programName(own.script, { PATH: other.bin }, other.root)).toBe(`node ${own.script}`)
})

test('adds the data directory where it is not the usual one', () => {
  const usual = createNextStep('npx gatehouse', () => '/home/ana/g', '/home/ana/g')
  expect(usual('trust')).toBe('npx gatehouse trust')
  const named = createNextStep('gatehouse', () => "/srv/ana's data", '/home/ana/g')
  expect(named('trust')).toBe(`gatehouse trust --data-dir '/srv/ana'\\''s data'`)
  expect(asNextStep('gatehouse agent list', usual)).toBe('npx gatehouse agent list')
  const there = createNextStep('npx gatehouse', () => '/srv/g', '/home/ana/g')
  expect(asNextStep('run `gatehouse vault unlock`, or: gatehouse pause --all', there)).toBe(
    'run `npx gatehouse vault unlock --data-dir /srv/g`, or: npx gatehouse pause --data-dir /srv/g --all',
  )
  expect(asNextStep('the gatehouse agents of ana', there)).toBe('the gatehouse agents of ana')
  expect(asNextStep('chmod 700 /srv', usual)).toBe('chmod 700 /srv')
})
