import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'

const folder = fileURLToPath(new URL('../../packages/dashboard/dist/', import.meta.url))
const assets = readdirSync(path.join(folder, 'assets'))
const read = (asset: string): string => readFileSync(path.join(folder, 'assets', asset), 'utf8')

/** A file with all that it cannot do without. */
const withImports = (asset: string, seen = new Set<string>()): Set<string> => {
  if (seen.has(asset)) return seen
  seen.add(asset)
  for (const [, imported = ''] of read(asset).matchAll(
    /(?:from|import) ?["'`]\.\/([\w.-]+\.js)["'`]/g,
  ))
    withImports(imported, seen)
  return seen
}

const named = (name: string): string =>
  assets.find((asset) => asset.startsWith(`${name}-`) && asset.endsWith('.js')) ?? ''

const firstLoad = (): readonly string[] => {
  const page = readFileSync(path.join(folder, 'index.html'), 'utf8')
  const linked = [...page.matchAll(/\/assets\/([\w.-]+)/g)].map(([, asset = '']) => asset)
  const scripts = [...linked.filter((asset) => asset.endsWith('.js')), named('overview')]
  return [
    ...new Set([
      ...linked.filter((asset) => asset.endsWith('.css')),
      ...scripts.flatMap((asset) => [...withImports(asset)]),
    ]),
  ]
}

test('the first page of the dashboard takes at most 180 kB, without what only some pages need', () => {
  const loaded = firstLoad()
  const bytes = loaded.reduce((sum, asset) => sum + gzipSync(read(asset)).length, 0)
  expect(bytes).toBeGreaterThan(50_000)
  expect(bytes).toBeLessThan(180_000)
  for (const name of ['editor', 'plot-canvas', 'palette']) {
    expect(named(name)).not.toBe('')
    expect(loaded).not.toContain(named(name))
  }
})

test('each further page takes at most 60 kB more, and the editor of policies comes by itself', () => {
  const source = new URL('../../packages/dashboard/src/shell/pages.ts', import.meta.url)
  const pages = [...readFileSync(source, 'utf8').matchAll(/import\('[\w./-]+\/([\w-]+)\.tsx'\)/g)]
  expect(pages.length).toBeGreaterThan(15)
  const there = new Set(firstLoad())
  const more = pages.map(([, name = '']) => {
    const files = [...withImports(named(name))].filter((asset) => !there.has(asset))
    return { name, bytes: files.reduce((sum, asset) => sum + gzipSync(read(asset)).length, 0) }
  })
  expect(more.filter(({ bytes }) => bytes > 60_000)).toEqual([])
  expect(more.find(({ name }) => name === 'policy')?.bytes ?? 0).toBeGreaterThan(1_000)
})
