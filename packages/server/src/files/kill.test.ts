import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { createFilesFactory } from './create-files-factory.ts'

const kills = process.env['GATEHOUSE_FULL'] === '1' ? 12 : 3
const compiled = new URL('../../dist/files/create-files-factory.js', import.meta.url).href

const fakes = {
  ids: { next: (prefix: string) => `${prefix}-x`, secret: () => Buffer.alloc(32) },
  clock: { wall: () => 0, now: () => 0 },
}

/** Overwrites one file until it is killed. */
const writer = `
import { createFilesFactory } from '${compiled}'
const ids = { next: (prefix) => prefix + '-x', secret: () => Buffer.alloc(32) }
const clock = { wall: () => 0, now: () => 0 }
const files = createFilesFactory({ ids, clock }).open({ name: 'alpha', workspace: process.argv[1], mounts: [] })
const versions = ['a', 'b'].map((letter) => Buffer.alloc(300_000, letter))
console.log('writing')
for (let i = 0; ; i++) await files.write('deep/file', versions[i % 2], { createParents: false })
`

test('a killed writer leaves old or new bytes, and the next start clears up after it (F09)', async () => {
  const base = mkdtempSync(path.join(tmpdir(), 'gatehouse-kill-'))
  const folder = path.join(base, 'deep')
  mkdirSync(folder)
  writeFileSync(path.join(folder, 'file'), 'a'.repeat(300_000))
  let left = 0
  try {
    for (let i = 0; i < kills || (left === 0 && i < 20); i++) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', writer, base], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      try {
        const said = await Promise.race([once(child.stdout, 'data'), once(child, 'close')])
        expect(String(said[0])).toBe('writing\n')
        // Somewhere in the writes that go on meanwhile: this process has some work of its own first.
        const until = performance.now() + 20 + Math.random() * 60
        while (performance.now() < until);
      } finally {
        child.kill('SIGKILL')
      }
      await once(child, 'close')
      left += readdirSync(folder).length - 1
      using factory = createFilesFactory(fakes)
      factory.open({ name: 'alpha', workspace: base, mounts: [] })
      await expect.poll(() => readdirSync(folder)).toEqual(['file'])
      const text = readFileSync(path.join(folder, 'file'), 'latin1')
      expect(text).toMatch(/^(a{300000}|b{300000})$/)
    }
    expect(left).toBeGreaterThan(0)
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}, 240_000)

test('clears up before the next write, and leaves alone what is being written (F09)', async () => {
  const base = mkdtempSync(path.join(tmpdir(), 'gatehouse-kill-'))
  try {
    using factory = createFilesFactory(fakes)
    const files = factory.open({ name: 'alpha', workspace: base, mounts: [] })
    await expect.poll(() => readdirSync(base)).toEqual([])
    const writing = Promise.all(
      ['x', 'y', 'z'].map((name) =>
        files.write(name, Buffer.alloc(2_000_000), { createParents: false }),
      ),
    )
    await expect
      .poll(() => readdirSync(base).some((n) => n.startsWith('.gh-')), { interval: 1 })
      .toBe(true)
    using second = createFilesFactory(fakes)
    second.open({ name: 'beta', workspace: base, mounts: [] })
    await writing
    expect(readdirSync(base).toSorted()).toEqual(['x', 'y', 'z'])
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
})
