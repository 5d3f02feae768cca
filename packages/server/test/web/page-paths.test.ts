import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'

const pages = fileURLToPath(new URL('../../../dashboard/public/', import.meta.url))

type Api = { pathTo(parts: readonly string[], ...names: readonly unknown[]): string }

test('the page builds no address from a name that a browser would resolve', async () => {
  const { pathTo } = (await import(pathToFileURL(join(pages, 'api.js')).href)) as Api
  expect(pathTo`/api/approvals/${'appr-1'}/${'approve'}`).toBe('/api/approvals/appr-1/approve')
  expect(pathTo`/api/agents/${'a/../b'}/pause`).toBe('/api/agents/a%2F..%2Fb/pause')
  for (const wrong of ['', '.', '..', undefined])
    expect(() => pathTo`/api/agents/${wrong}/pause`, String(wrong)).toThrow('not a valid name')
})

test('the page has no address with a name in it but by pathTo', () => {
  const scripts = readdirSync(pages).filter((file) => file.endsWith('.js'))
  expect(scripts).toContain('approvals.js')
  for (const file of scripts) {
    const text = readFileSync(join(pages, file), 'utf8')
    const built = [...text.matchAll(/(\w*)`\/api\/[^`]*\$\{[^`]*`/g)]
    expect(
      built.filter(([, tag]) => tag !== 'pathTo'),
      file,
    ).toEqual([])
    expect(text, file).not.toMatch(/['"]\/api\/[^'"]*['"]\s*\+/)
  }
})
