import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Ring, readRing } from './ring.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-ring-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** The byte at each offset is known, so that any piece can be checked. */
const bytesAt = (offset: number, length: number): Buffer =>
  Buffer.from(Array.from({ length }, (_, i) => (offset + i) % 251))

const fill = async (total: number, step: number): Promise<Ring> => {
  const ring = new Ring(folder, 'stdout')
  for (let at = 0; at < total; at += step) await ring.write(bytesAt(at, Math.min(step, total - at)))
  await ring.close()
  return ring
}

test('gives back what was written from any offset, across files', async () => {
  const total = 1_200_000
  const ring = await fill(total, 77_777)
  expect(ring.total).toBe(total)
  for (const [offset, limit] of [
    [0, 10],
    [524_280, 20],
    [1_000_000, 500_000],
    [0, 2_000_000],
  ] as const) {
    const piece = await readRing(folder, 'stdout', offset, limit)
    expect(piece).toMatchObject({ offset, total_bytes: total })
    expect(Buffer.compare(piece.bytes, bytesAt(offset, Math.min(limit, total - offset)))).toBe(0)
  }
})

test('keeps no more than two mebibytes, the last ones', async () => {
  const total = 10_000_000
  await fill(total, 999_999)
  const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(2 * 1024 * 1024)
  const piece = await readRing(folder, 'stdout', 0, 3_000_000)
  expect(piece.offset).toBeGreaterThan(total - 2 * 1024 * 1024 - 1)
  expect(piece.offset + piece.bytes.length).toBe(total)
  expect(Buffer.compare(piece.bytes, bytesAt(piece.offset, piece.bytes.length))).toBe(0)
})

test('knows each stream by itself, and nothing where nothing was written', async () => {
  await fill(10, 10)
  expect(await readRing(folder, 'stderr', 5, 10)).toMatchObject({ offset: 0, total_bytes: 0 })
  expect(await readRing(join(folder, 'none'), 'stdout', 0, 10)).toMatchObject({ total_bytes: 0 })
  expect(await readRing(folder, 'stdout', 99, 10)).toMatchObject({ offset: 10, total_bytes: 10 })
})

test('says when the disk does not take it', async () => {
  const ring = new Ring('/dev/null/nowhere', 'stdout')
  await expect(ring.write(Buffer.from('x'))).rejects.toThrow('ENOTDIR')
})
