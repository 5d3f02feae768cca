import path from 'node:path'
import { readPage } from './markdown.mjs'

const isOutside = (href) => /^[a-z][a-z+.-]*:/i.test(href)

/** The file and the anchor that a link of a page means; the file is the page itself for `#anchor`. */
export const targetOf = (page, href) => {
  const [file, anchor = null] = decodeURIComponent(href).split('#', 2)
  const found = file === '' ? page : path.posix.join(path.posix.dirname(page), file)
  return { file: found.replace(/\/$/, ''), anchor }
}

/**
 * Problems of links, one line each. `pages` are the texts of Markdown files by path; `exists` says whether there is any
 * other file or folder. Every page below `docs` has to be reachable from `start`.
 */
export const brokenLinks = (pages, exists, start) => {
  const read = new Map([...pages].map(([file, text]) => [file, readPage(text)]))
  const problems = []
  const reached = new Set()
  const visit = (page) => {
    if (reached.has(page)) return
    reached.add(page)
    for (const { href } of read.get(page)?.links ?? [])
      if (!isOutside(href)) visit(targetOf(page, href).file)
  }
  for (const [page, { links }] of read)
    for (const { href, line } of links) {
      if (isOutside(href)) continue
      const { file, anchor } = targetOf(page, href)
      const target = read.get(file)
      if (!target && !exists(file))
        problems.push(`${page}:${line} leads to ${file}, which is not there`)
      else if (anchor !== null && target && !target.anchors.has(anchor))
        problems.push(`${page}:${line} leads to ${file}#${anchor}, which has no such heading`)
    }
  visit(start)
  for (const page of pages.keys())
    if (page.startsWith('docs/') && !reached.has(page))
      problems.push(`${page} cannot be reached from ${start}`)
  return problems
}
