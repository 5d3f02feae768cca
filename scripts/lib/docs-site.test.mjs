import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeDocsSite } from './docs-folder.mjs'
import { buildDocsSite } from './docs-site.mjs'
import { markdownFiles } from './files.mjs'
import { root } from './run.mjs'

const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-docs-site-'))
const pages = new Map()

beforeAll(() => {
  buildDocsSite(folder)
  for (const file of readdirSync(folder, { recursive: true }))
    if (file.endsWith('.html')) pages.set(file, readFileSync(path.join(folder, file), 'utf8'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const linksOf = (html) => [...html.matchAll(/ (?:href|src)="([^"]+)"/g)].map((match) => match[1])
const ids = new Map()
const idsOf = (html) => {
  if (!ids.has(html))
    ids.set(html, new Set([...html.matchAll(/ id="([^"]+)"/g)].map((match) => match[1])))
  return ids.get(html)
}

/** What the dashboard has besides, above the site. */
const beside = ['../', '../icon.svg', '../theme.js', 'site.css', 'site.js']

test('has a page for each document, and no step that only the tests see', () => {
  expect(pages.size).toBe(markdownFiles().length)
  expect(pages.get('guide/policy.html')).toContain('<h1 id="policy">Policy</h1>')
  expect([...pages].filter(([, html]) => /<!--|has_agent|new_agent\)/.test(html))).toEqual([])
})

test('each of its links leads to a page and a heading that are there', () => {
  const wrong = []
  for (const [page, html] of pages)
    for (const link of linksOf(html)) {
      if (/^[a-z]+:/.test(link)) continue
      const [to, anchor] = link.split('#')
      const joined = path.posix.join(path.posix.dirname(page), to)
      if (beside.includes(joined)) continue
      const file =
        to === '' ? page : joined === './' ? 'index.html' : joined.replace(/\/$/, '/index.html')
      const target = pages.get(file)
      if (!target || (anchor && !idsOf(target).has(anchor))) wrong.push(`${page}: ${link}`)
    }
  expect(wrong).toEqual([])
})

test('each reader has a start page, and each guide is on one of them', () => {
  const start = linksOf(pages.get('index.html').split('<main')[1].split('</main>')[0]).filter(
    (link) => link.endsWith('.html'),
  )
  expect(start).toEqual(
    ['run-agents', 'write-agents', 'operate', 'audit', 'contribute'].map(
      (name) => `start/${name}.html`,
    ),
  )
  const reached = start.flatMap((page) =>
    linksOf(pages.get(page).split('<main')[1].split('</main>')[0]).map((link) =>
      path.posix.join('start', link.split('#')[0]),
    ),
  )
  const guides = [...pages.keys()].filter((page) => page.startsWith('guide/'))
  expect(guides.length).toBeGreaterThan(40)
  expect(guides.filter((guide) => !reached.includes(guide))).toEqual([])
  // The menu of every page has them, under the name of the reader.
  const menu = pages.get('guide/policy.html').split('<nav class="pages"')[1]
  for (const title of ['I run agents', 'I write agents', 'I operate it', 'I must show an auditor'])
    expect(menu).toContain(`<h2>${title}</h2>`)
})

test('nothing in it needs a policy of content looser than that of the dashboard', () => {
  for (const html of pages.values())
    expect(html).not.toMatch(/<script>|<style|(?: style| on[a-z]+)="|src="http/)
})

test('what search looks through leads to headings', () => {
  const entries = JSON.parse(readFileSync(path.join(folder, 'search.json'), 'utf8'))
  expect(entries.length).toBeGreaterThan(500)
  const wrong = entries.filter(({ url }) => {
    const [file, anchor] = url.split('#')
    return !idsOf(pages.get(file) ?? '').has(anchor)
  })
  expect(wrong).toEqual([])
})

test('is a site of its own too: all that its pages load is in its folder', () => {
  const site = path.join(folder, 'alone')
  const addresses = writeDocsSite(site)
  expect(addresses.length).toBe(markdownFiles().length)
  const loaded = /<(?:img|script|link)[^>]* (?:href|src)="([^"]+)"/g
  const missing = addresses.flatMap((address) => {
    const html = readFileSync(path.join(site, address), 'utf8')
    return [...html.matchAll(loaded)]
      .map((match) => path.join(path.dirname(address), match[1]))
      .filter((file) => file.startsWith('..') || !existsSync(path.join(site, file)))
  })
  expect(missing).toEqual([])
  expect(readFileSync(path.join(site, 'project/index.html'), 'utf8')).toContain(
    '<img src="../images/',
  )
  expect(writeDocsSite(site)).toEqual(addresses)
  expect(() => writeDocsSite(root)).toThrow('has other files in it')
})
